"""The words of one utterance while it grows: piece by piece, and what may be told of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from s2s_actors.protocol import audio
from s2s_actors.protocol import server_events as ev

LONGEST_PIECE_MS = 24_000
"""What speech recognition takes in one go: Whisper's window is 30 s."""
PIECE_WORTH_KEEPING_MS = 6000
"""A pause after so much speech parts it: what lies before need not be transcribed again."""
_QUIET_SEARCH_MS, _QUIET_STEP_MS, _QUIET_WINDOW_MS = 6000, 20, 100
_WORD = re.compile(r"\S+")
_MARKS = re.compile(r"[^\w']+")


@dataclass(slots=True, eq=False)
class Piece:
    """A stretch of an utterance, and its words once they are known.

    Attributes:
        voice_id: Names it for speech recognition.
        end_ms: Where it ends on the session's clock.
        text: Its words; None while speech recognition works on it.
        logprobs: How sure speech recognition is of them.
    """

    voice_id: str
    end_ms: int
    text: str | None = None
    logprobs: tuple[ev.LogProb, ...] = ()


@dataclass(slots=True)
class Dictation:
    """What speech recognition was asked about one utterance.

    Promises: the pieces follow each other without a gap, and the words of an earlier piece
    come before those of a later one, whichever is known first.

    Attributes:
        open_ms: Where the piece begins that still grows.
        settled: Pieces that are part of the transcript, known or not.
        guess: The growing piece up to a pause, in case that it ends there.
        hypothesis: The growing piece as it was at some moment, only to be looked at.
        failure: Code and message, if a settled piece could not be transcribed.
    """

    open_ms: int
    settled: list[Piece] = field(default_factory=list)
    guess: Piece | None = None
    hypothesis: Piece | None = None
    failure: tuple[str, str] | None = None

    def settle(self, piece: Piece, *, next_ms: int) -> None:
        """A piece is part of the transcript; the next one begins at ``next_ms``."""
        self.settled.append(piece)
        self.open_ms = next_ms

    @property
    def is_known(self) -> bool:
        """Whether all settled pieces are known."""
        return all(piece.text is not None for piece in self.settled)

    @property
    def text(self) -> str:
        """The words of the settled pieces."""
        return joined(piece.text or "" for piece in self.settled)

    @property
    def logprobs(self) -> tuple[ev.LogProb, ...]:
        """How sure speech recognition is of them."""
        return tuple(each for piece in self.settled for each in piece.logprobs)

    def with_open(self, piece: Piece) -> str:
        """The words of the settled pieces, and of the growing one as far as ``piece`` has it."""
        return joined([self.text, piece.text or ""])


def joined(texts: Iterable[str]) -> str:
    """Texts in one, with a space between them."""
    return " ".join(text.strip() for text in texts if text.strip())


class Partials:
    """What may be told of a transcript that still changes.

    Promises: what was told is never taken back: only words are told that two hypotheses in a
    row agree on (LocalAgreement, Liu et al. 2020), and the last word of a hypothesis is not
    told, for it may go on.
    """

    def __init__(self) -> None:
        self._before: list[str] = []
        self._told = 0
        self._said = ""

    def more(self, hypothesis: str) -> str:
        """What can be told after another hypothesis; empty for nothing new."""
        words = _WORD.findall(hypothesis)
        agreed = _common(self._before, words[:-1])
        self._before = words
        return self._tell(words, agreed)

    def rest(self, text: str) -> str:
        """What is left to tell of the final text, if that begins with what was told."""
        if not self._told:
            return text
        words = _WORD.findall(text)
        if _common(_WORD.findall(self._said), words) < self._told:
            return ""
        return self._tell(words, len(words))

    def _tell(self, words: list[str], count: int) -> str:
        new = words[self._told : count]
        if not new:
            return ""
        more = (" " if self._told else "") + " ".join(new)
        self._told = count
        self._said += more
        return more


def _common(first: list[str], second: list[str]) -> int:
    """How many words two texts begin with alike, but for case and marks."""
    pairs = zip(map(_plain, first), map(_plain, second), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _plain(word: str) -> str:
    return _MARKS.sub("", word).lower()


def quietest_ms(pcm: bytes) -> int:
    """Where to cut speech that has no pause: the quietest moment of its last seconds.

    Args:
        pcm: The speech.

    Returns:
        The middle of that moment, in milliseconds from the beginning.
    """
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    step = audio.size_bytes(_QUIET_STEP_MS) // audio.BYTES_PER_SAMPLE
    whole = samples[: len(samples) // step * step].reshape(-1, step)
    energy = np.square(whole).mean(axis=1)
    width = _QUIET_WINDOW_MS // _QUIET_STEP_MS
    smooth = np.convolve(energy, np.ones(width) / width, mode="valid")
    first = max(0, len(smooth) - _QUIET_SEARCH_MS // _QUIET_STEP_MS)
    quietest = first + int(smooth[first:].argmin())
    return quietest * _QUIET_STEP_MS + _QUIET_WINDOW_MS // 2
