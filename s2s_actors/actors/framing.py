"""The audio of one session, cut into frames as voice detection wants them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import soxr

from s2s_actors.protocol.audio import WIRE_RATE_HZ, size_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_STEP_BYTES = size_bytes(1000)
"""A second of audio is resampled at a time, in some tenths of a millisecond."""
_FULL_SCALE = np.float32(1 / 32768)


class Framing:
    """Takes in audio at the rate of the wire, and gives frames at that of the model.

    Promises: frames come in order and hold all of the audio but a rest that is shorter than one;
    audio that does not follow what came before begins anew, and ``on_gap`` is told its position
    before its first frame comes out; no call resamples more than it needs for the next frame, and a
    second at most: others wait for this thread.

    Args:
        rate_hz: Sampling rate of the frames.
        frame_samples: Their length.
        on_gap: Told where audio begins anew, in samples of the wire.
    """

    def __init__(self, rate_hz: int, frame_samples: int, on_gap: Callable[[int], None]) -> None:
        self._rate_hz = rate_hz
        self._frame_samples = frame_samples
        self._on_gap = on_gap
        self._audio: deque[tuple[int, memoryview]] = deque()
        self._waiting_bytes = 0
        self._frames: deque[NDArray[np.float32]] = deque()
        self._begin(0)

    def add(self, pcm: bytes, at_sample: int) -> None:
        """Take in audio, whose first sample lies there in the session."""
        self._audio.append((at_sample, memoryview(pcm)))
        self._waiting_bytes += len(pcm)

    @property
    def has_enough(self) -> bool:
        """Whether so much waits that more had better wait elsewhere."""
        return self._waiting_bytes > _STEP_BYTES

    @property
    def has_more(self) -> bool:
        """Whether there is audio left; it may be less than a frame."""
        return bool(self._frames or self._audio)

    def next(self) -> NDArray[np.float32] | None:
        """The next frame, in -1..1; None until more audio comes."""
        while not self._frames and self._audio:
            self._resample()
        return self._frames.popleft() if self._frames else None

    def drop(self) -> None:
        """Forget the audio that is left."""
        self._frames.clear()
        self._audio.clear()
        self._waiting_bytes = 0

    def _begin(self, sample: int) -> None:
        self._next_sample = sample
        self._rest: NDArray[np.float32] = np.zeros(0, np.float32)
        self._resampler: Any = soxr.ResampleStream(
            WIRE_RATE_HZ, self._rate_hz, 1, dtype="int16", quality="MQ"
        )

    def _resample(self) -> None:
        at_sample, pcm = self._audio.popleft()
        if at_sample != self._next_sample:
            self._begin(at_sample)
            self._on_gap(at_sample)
        piece, later = pcm[:_STEP_BYTES], pcm[_STEP_BYTES:]
        self._waiting_bytes -= len(piece)
        wire = np.frombuffer(piece, dtype="<i2")
        self._next_sample += len(wire)
        if later:
            self._audio.appendleft((self._next_sample, later))
        resampled = self._resampler.resample_chunk(wire).astype(np.float32)
        resampled *= _FULL_SCALE
        samples = np.concatenate([self._rest, resampled])
        size = self._frame_samples
        whole = len(samples) // size
        self._frames.extend(samples[: whole * size].reshape(whole, size))
        self._rest = samples[whole * size :]
