"""Audio as websocket frames that are ready to be written: made once, sent by many sessions.

Encoding a piece costs more than sending it does, and a crowd sends thousands a second. So each
piece of the hiss and of each clip becomes JSON, then a masked frame, before the first session
is opened. (That all sessions send a piece with the same mask is fine: a mask guards proxies
against web pages, and there is no page here.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from websockets.frames import Frame, Opcode

from s2s_actors.client.audio_file import BYTES_PER_MS, SAMPLE_RATE_HZ
from s2s_actors.client.bench.microphone import HISS
from s2s_actors.client.conversation import append

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.crowd_plan import Sound

__all__ = ["Speech", "frames_of", "hiss_frames", "speech_of"]

_HISS_PIECES: Final = 50


@dataclass(frozen=True, slots=True)
class Speech:
    """A clip, ready to be sent.

    Attributes:
        frames: Its pieces in order.
        onset: Which of them holds the first speech.
        end: Which of them holds the end of the speech.
    """

    frames: Sequence[bytes]
    onset: int
    end: int


def frames_of(pcm: bytes, piece_ms: int) -> list[bytes]:
    """Whole pieces of 24 kHz PCM as frames; what is left at the end is filled with hiss."""
    size = piece_ms * BYTES_PER_MS
    padded = pcm + _hiss(-len(pcm) % size)
    return [_frame(padded[start : start + size]) for start in range(0, len(padded), size)]


def hiss_frames(piece_ms: int) -> list[bytes]:
    """What is sent, again and again, while nobody speaks."""
    return frames_of(_hiss(_HISS_PIECES * piece_ms * BYTES_PER_MS), piece_ms)


def speech_of(sound: Sound, piece_ms: int) -> Speech:
    """A clip as frames."""
    frames = frames_of(sound.pcm, piece_ms)
    last = len(frames) - 1
    return Speech(
        frames, min(sound.onset_ms // piece_ms, last), min(sound.end_ms // piece_ms, last)
    )


def _frame(pcm: bytes) -> bytes:
    return Frame(Opcode.TEXT, msgspec.json.encode(append(pcm))).serialize(mask=True)


def _hiss(size_bytes: int) -> bytes:
    times = size_bytes // (2 * SAMPLE_RATE_HZ) + 1
    return (HISS * times)[:size_bytes]
