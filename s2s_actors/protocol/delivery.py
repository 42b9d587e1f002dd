"""How the text of an answer becomes speech: segment by segment, while it is written."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.protocol.speech_pieces import SpeechPieces
from s2s_actors.protocol.spoken_text import spoken


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text for the voice.

    Attributes:
        number: Counts the segments of an answer from 0.
        text: What is written.
        speech: What is said instead.
    """

    number: int
    text: str
    speech: str


class Delivery:
    """Cuts one answer into segments.

    Promises: the same deltas give the same segments, so that what was begun on a draft fits
    the answer that it becomes; a segment has something to say. White space alone is neither
    written nor spoken: a model that says only that has said nothing.
    """

    def __init__(self, *, speaks: bool) -> None:
        """Begin a new answer; ``speaks`` is False if it is only written."""
        self._speaks = speaks
        self._pieces = SpeechPieces()
        self._in_message = False
        self._silent = ""
        self._next = 0

    def written(self, delta: str) -> str:
        """What of a delta is part of the message: not the white space before it."""
        if not self._in_message:
            delta = delta.lstrip()
            self._in_message = bool(delta)
        return delta

    def segments(self, written: str) -> list[Segment]:
        """The segments that are complete with this text."""
        return self._numbered(self._pieces.add(written)) if self._speaks and written else []

    def end(self) -> list[Segment]:
        """The message is complete: the rest of it."""
        rest = self._pieces.finish() if self._speaks and self._in_message else []
        found = self._numbered(rest)
        self._in_message = False
        self._silent = ""
        return found

    def _numbered(self, pieces: list[str]) -> list[Segment]:
        found: list[Segment] = []
        for piece in pieces:
            text = f"{self._silent} {piece}".lstrip()
            speech = spoken(piece)
            if not speech.strip():
                self._silent = text  # goes with what is said next
                continue
            self._silent = ""
            found.append(Segment(self._next, text, speech))
            self._next += 1
        return found
