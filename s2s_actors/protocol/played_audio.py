"""What a client plays, and when."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.protocol.audio import BYTES_PER_SAMPLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PlayedAudio"]


class PlayedAudio:
    """Pieces of 16-bit PCM on one clock, in samples; between them is silence.

    Promises: audio is not copied until it is asked for.
    """

    def __init__(self) -> None:
        self._pieces: deque[tuple[int, bytes]] = deque()

    @property
    def end(self) -> int:
        """Where the last piece ends; 0 without any."""
        return _end(*self._pieces[-1]) if self._pieces else 0

    def add(self, pcm: bytes, at_sample: int) -> None:
        """One more piece; where it overlaps an earlier one it counts."""
        if pcm:
            self._pieces.append((at_sample, pcm))

    def cut(self, at_sample: int) -> None:
        """Drop everything from a position on."""
        kept = (
            (start, pcm[: (at_sample - start) * BYTES_PER_SAMPLE])
            for start, pcm in self._pieces
            if start < at_sample
        )
        self._pieces = deque(kept)

    def forget(self, before_sample: int) -> None:
        """Drop the pieces that end before a position."""
        while self._pieces and _end(*self._pieces[0]) <= before_sample:
            self._pieces.popleft()

    def between(self, start: int, end: int) -> NDArray[np.float32]:
        """What is played from ``start`` to ``end``, in -1..1."""
        audio = np.zeros(end - start, np.float32)
        for at, pcm in self._pieces:
            first, last = max(at, start), min(_end(at, pcm), end)
            if first < last:
                samples = np.frombuffer(pcm, "<i2", last - first, (first - at) * BYTES_PER_SAMPLE)
                audio[first - start : last - start] = samples / np.float32(32768)
        return audio


def _end(at_sample: int, pcm: bytes) -> int:
    return at_sample + len(pcm) // BYTES_PER_SAMPLE
