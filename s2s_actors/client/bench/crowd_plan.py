"""What a crowd shall do, and what it tells: the messages between the bench and its streamer.

Times are in seconds from the moment in which the streams begin. The first ``SETTLE_S`` of them
do not count.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.bench.figures import Figure  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from s2s_actors.client.bench.clips import Clip

__all__ = [
    "DONE",
    "SETTLE_S",
    "STARTED",
    "STOPPED",
    "TRANSCRIBED",
    "Outcome",
    "Plan",
    "Report",
    "Said",
    "SessionLog",
    "Sound",
    "Steady",
    "Stopping",
    "Utterance",
    "in_turn",
    "one_by_one",
    "sound_of",
]

SETTLE_S: Final = 1.0
"""How long all stream before anything is measured: caches warm up, voice detectors settle."""

STARTED: Final = "input_audio_buffer.speech_started"
STOPPED: Final = "input_audio_buffer.speech_stopped"
TRANSCRIBED: Final = "conversation.item.input_audio_transcription.completed"
DONE: Final = "response.done"

_BREATH_S: Final = 2.5
"""Pause after what somebody who is alone has said: the turn ends, it is answered, and a server
that listens for the echo of its answer has stopped doing so."""


class Sound(msgspec.Struct, frozen=True):
    """A clip: 24 kHz PCM, and where its speech begins and ends."""

    pcm: bytes
    onset_ms: int
    end_ms: int


class Utterance(msgspec.Struct, frozen=True):
    """Session ``session`` begins to say clip ``clip`` at ``at_s``."""

    session: int
    clip: int
    at_s: float


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the streamer does.

    Attributes:
        url: The server.
        settings: The ``session.update`` of every session.
        sessions: How many.
        piece_ms: Audio in each ``input_audio_buffer.append``.
        clips: What there is to say.
        utterances: Who says what when; in order.
        duration_s: For how long it is measured, once the streams have settled.
        timeout_s: Longest silence of the server before a session stands.
    """

    url: str
    settings: dict[str, object]
    sessions: int
    piece_ms: int
    clips: tuple[Sound, ...]
    utterances: tuple[Utterance, ...]
    duration_s: float
    timeout_s: float


class Steady(msgspec.Struct, frozen=True, tag=True):
    """All sessions that there will be are open and stream; what is measured begins."""


class Stopping(msgspec.Struct, frozen=True, tag=True):
    """What is measured ends; nobody has left yet."""


class Said(msgspec.Struct):
    """When an utterance left: its first piece, and those with the onset and the end of speech."""

    clip: int
    begin_s: float
    onset_s: float | None = None
    end_s: float | None = None


class SessionLog(msgspec.Struct):
    """What one session saw.

    Attributes:
        problem: Why it never came about, empty if it did.
        said: Its utterances in order.
        events: When which event came, those of turns only.
        errors: ``error`` events and failed responses, in words.
        closed: How the server ended it, empty if it did not.
    """

    problem: str = ""
    said: list[Said] = []
    events: list[tuple[float, str]] = []
    errors: list[str] = []
    closed: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What came of a plan.

    Attributes:
        logs: One for each session.
        late_ms: How late pieces left, against the schedule; None if none left.
        seconds: Length of the time that was measured.
        cpu_s: What the streamer used of a processor in that time.
    """

    logs: list[SessionLog]
    late_ms: Figure | None
    seconds: float
    cpu_s: float


Report: TypeAlias = Steady | Stopping | Outcome


def sound_of(clip: Clip) -> Sound:
    """A clip as it travels."""
    return Sound(clip.pcm, clip.start_ms, clip.end_ms)


def one_by_one(clips: Sequence[Clip]) -> tuple[Utterance, ...]:
    """A single session says every clip once, with a breath after each."""
    return tuple(_one_by_one(clips))


def in_turn(
    clips: Sequence[Clip], *, sessions: int, talking: float, duration_s: float
) -> tuple[Utterance, ...]:
    """Everybody says something in turn, so that at each moment that share is talking.

    Beginnings are evenly apart, and whoever has spoken is last in the line. What would not be
    over in time is not begun.

    Args:
        clips: What is said, in turn.
        sessions: How many there are.
        talking: Share of them that talks at any moment, 0 to 1.
        duration_s: Length of the time that is measured.
    """
    lengths_s = [duration_ms(clip.pcm) / 1000.0 for clip in clips]
    if not talking or not lengths_s:
        return ()
    every_s = sum(lengths_s) / len(lengths_s) / (sessions * talking)
    found: list[Utterance] = []
    for number in count():
        session, rounds = number % sessions, number // sessions
        at_s = SETTLE_S + number * every_s
        if at_s > SETTLE_S + duration_s:
            break
        # Shifted in each round: else a session might say the same for ever.
        clip = (session + rounds) % len(clips)
        if at_s + lengths_s[clip] <= SETTLE_S + duration_s:
            found.append(Utterance(session, clip, at_s))
    return tuple(found)


def _one_by_one(clips: Sequence[Clip]) -> Iterator[Utterance]:
    at_s = SETTLE_S
    for number, clip in enumerate(clips):
        yield Utterance(0, number, at_s)
        at_s += duration_ms(clip.pcm) / 1000.0 + _BREATH_S
