"""The turns of a conversation: which transcript and which answer belong to which speech."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.client.record import AUDIO_DELTA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from s2s_actors.client.record import Event, Record

__all__ = ["Answer", "Turn", "turns_of"]

_TRANSCRIPTION = "conversation.item.input_audio_transcription"
_TEXT_DELTAS = ("response.output_audio_transcript.delta", "response.output_text.delta")


@dataclass(slots=True)
class Answer:
    """One response, times in ms from the start of the user's audio.

    Attributes:
        response_id: The server's name for it.
        created_ms: Arrival of ``response.created``.
        first_token_ms: Arrival of the first piece of text, None without any.
        first_audio_ms: Arrival of the first piece of audio, None without any.
        done_ms: Arrival of ``response.done``, None while the answer goes on.
        status: As in ``response.done``; ``in_progress`` before.
        detail: Why a response was cancelled, incomplete or failed.
        text: What was answered.
        audio_bytes: Bytes of 24 kHz PCM received.
    """

    response_id: str
    created_ms: float
    first_token_ms: float | None = None
    first_audio_ms: float | None = None
    done_ms: float | None = None
    status: str = "in_progress"
    detail: str = ""
    text: str = ""
    audio_bytes: int = 0


@dataclass(slots=True)
class Turn:
    """One utterance and what came of it, times in ms from the start of the user's audio.

    Attributes:
        item_id: The user's item.
        speech_end_ms: When the user really stopped, by the energy of the audio.
        started_ms: Arrival of ``speech_started``.
        stopped_ms: Arrival of ``speech_stopped``.
        transcript_ms: Arrival of the finished transcript.
        transcript: What was heard; empty for no words.
        transcript_error: Why there is no transcript.
        answers: The responses that followed before the next utterance was committed.
    """

    item_id: str
    speech_end_ms: float | None = None
    started_ms: float | None = None
    stopped_ms: float | None = None
    transcript_ms: float | None = None
    transcript: str = ""
    transcript_error: str = ""
    answers: list[Answer] = field(default_factory=list)


def turns_of(record: Record) -> list[Turn]:
    """Sort the events of a record into turns, in the order in which they were spoken.

    A response belongs to the utterance committed last before it; one that comes before any
    utterance makes a turn of its own, with an empty ``item_id``.
    """
    builder = _Builder()
    for event in record.events:
        builder.add(event)
    for turn in builder.turns.values():
        turn.speech_end_ms = _speech_end_ms(turn, record.speech_ms)
    return list(builder.turns.values())


class _Builder:
    def __init__(self) -> None:
        self.turns: dict[str, Turn] = {}
        self._answers: dict[str, Answer] = {}
        self._latest = ""

    def add(self, event: Event) -> None:
        match event.type:
            case "input_audio_buffer.speech_started":
                self._turn(event).started_ms = event.at_ms
            case "input_audio_buffer.speech_stopped":
                self._turn(event).stopped_ms = event.at_ms
            case "input_audio_buffer.committed":
                self._latest = self._turn(event).item_id
            case kind if kind.startswith(_TRANSCRIPTION):
                self._add_transcript(event)
            case "response.created":
                self._add_answer(event)
            case kind if kind.startswith("response."):
                self._extend_answer(event)
            case _:
                pass

    def _turn(self, event: Event) -> Turn:
        item_id = event.text("item_id")
        return self.turns.setdefault(item_id, Turn(item_id))

    def _add_transcript(self, event: Event) -> None:
        turn = self._turn(event)
        match event.type.removeprefix(_TRANSCRIPTION):
            case ".delta":
                turn.transcript += event.text("delta")
            case ".completed":
                turn.transcript = event.text("transcript").strip()
                turn.transcript_ms = event.at_ms
            case ".failed":
                turn.transcript_error = event.text("error", "message") or "transcription failed"
            case _:
                pass

    def _add_answer(self, event: Event) -> None:
        answer = Answer(event.text("response", "id"), event.at_ms)
        self._answers[answer.response_id] = answer
        self.turns.setdefault(self._latest, Turn(self._latest)).answers.append(answer)

    def _extend_answer(self, event: Event) -> None:
        response_id = event.text("response_id") or event.text("response", "id")
        answer = self._answers.get(response_id)
        if answer is None:
            return
        if event.type in _TEXT_DELTAS:
            answer.text += event.text("delta")
            answer.first_token_ms = _first(answer.first_token_ms, event.at_ms)
        elif event.type == AUDIO_DELTA:
            answer.audio_bytes += len(event.audio)
            answer.first_audio_ms = _first(answer.first_audio_ms, event.at_ms)
        elif event.type == "response.done":
            answer.done_ms = event.at_ms
            answer.status = event.text("response", "status") or "completed"
            answer.detail = _detail(event)


def _first(earlier_ms: float | None, at_ms: float) -> float:
    return at_ms if earlier_ms is None else earlier_ms


def _detail(event: Event) -> str:
    path = ("response", "status_details")
    wanted: Iterable[tuple[str, ...]] = (("reason",), ("error", "code"), ("error", "message"))
    return ": ".join(filter(None, (event.text(*path, *key) for key in wanted)))


def _speech_end_ms(turn: Turn, speech_ms: Sequence[tuple[int, int]]) -> float | None:
    """End of the last speech before ``speech_stopped``.

    The client streams at real time, so the arrival of an event is also a place in the
    audio. Speech that still goes on at that place is the next utterance or a breath.
    """
    if turn.stopped_ms is None:
        return None
    ends = [float(end) for _, end in speech_ms if end <= turn.stopped_ms]
    return ends[-1] if ends else None
