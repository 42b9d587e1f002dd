"""A microphone that never stops: 20 ms of audio every 20 ms, speech when there is some to say.

The schedule knows no drift: every piece has a deadline that follows from the start alone, and
a late one is caught up. A place in the stream is therefore also a moment: the sample at
``place_ms`` is captured ``place_ms`` after the start, and its piece leaves at the end of the
20 ms in which it lies. Between clips there is a faint hiss (-75 dBFS), as no room is silent.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from s2s_actors.client.audio_file import BYTES_PER_MS, SAMPLE_RATE_HZ
from s2s_actors.client.conversation import FRAME_MS, append

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HISS", "Microphone", "Wire"]

_FRAME_BYTES: Final = FRAME_MS * BYTES_PER_MS
_HISS_RMS: Final = 32768 * 10 ** (-75 / 20)
HISS: Final = (
    np.rint(np.random.default_rng(1).normal(scale=_HISS_RMS, size=SAMPLE_RATE_HZ))
    .astype("<i2")
    .tobytes()
)
"""One second of it (24 kHz PCM)."""


class Wire(Protocol):
    """What a microphone needs of a connection."""

    @property
    def now_ms(self) -> float:
        """Time since the start of the microphone."""
        ...

    async def send(self, event: Mapping[str, object]) -> None:
        """Send one event."""
        ...


class Microphone:
    """Streams to one connection whose clock starts with it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._pending = memoryview(b"")
        self._taken = 0  # pieces, the one that is on its way included
        self._late_ms: list[float] = []

    def say(self, pcm: bytes) -> float:
        """Begin to speak 24 kHz PCM with the next piece; return the place of its first sample.

        What was still to be said is dropped.
        """
        self._pending = memoryview(pcm)
        return float(self._taken * FRAME_MS)

    def late_ms(self, place_ms: float) -> float | None:
        """How late the piece that holds a place left, None if it has not."""
        frame = int(place_ms // FRAME_MS)
        return self._late_ms[frame] if frame < len(self._late_ms) else None

    async def stream(self) -> None:
        """Stream until this task is cancelled."""
        while True:
            deadline_ms = float((self._taken + 1) * FRAME_MS)
            await asyncio.sleep(max(0.0, deadline_ms - self._wire.now_ms) / 1000.0)
            await self._wire.send(append(self._next_frame()))
            self._late_ms.append(self._wire.now_ms - deadline_ms)

    def _next_frame(self) -> bytes:
        frame = bytes(self._pending[:_FRAME_BYTES])
        self._pending = self._pending[_FRAME_BYTES:]
        start = self._taken * _FRAME_BYTES % len(HISS)
        self._taken += 1
        return frame + HISS[start + len(frame) : start + _FRAME_BYTES]
