"""Sounds and audio files for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import av
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

RATE_HZ = 24_000


def silence(ms: int) -> bytes:
    """Digital silence (24 kHz PCM)."""
    return bytes(RATE_HZ * ms // 1000 * 2)


def tone(ms: int, *, level_db: float = -12.0, hz: float = 440.0) -> bytes:
    """A sine tone (24 kHz PCM) of that RMS level, in dBFS."""
    times_s = np.arange(RATE_HZ * ms // 1000) / RATE_HZ
    amplitude = 32767 * np.sqrt(2) * 10 ** (level_db / 20)
    return _pcm(amplitude * np.sin(2 * np.pi * hz * times_s))


def noise(ms: int, *, level_db: float, seed: int = 1) -> bytes:
    """White noise (24 kHz PCM) of that RMS level, in dBFS."""
    samples = np.random.default_rng(seed).normal(size=RATE_HZ * ms // 1000)
    return _pcm(samples * 32767 * 10 ** (level_db / 20))


def mixed(one: bytes, other: bytes) -> bytes:
    """Two sounds of equal length at once."""
    return _pcm(np.frombuffer(one, "<i2").astype(float) + np.frombuffer(other, "<i2"))


def _pcm(samples: NDArray[np.float64]) -> bytes:
    return samples.clip(-32768, 32767).astype("<i2").tobytes()


def write_audio(
    path: Path,
    pcm: bytes,
    *,
    codec: str,
    rate_hz: int = RATE_HZ,
    layout: str = "mono",
) -> Path:
    """Encode 24 kHz PCM with PyAV; the container follows from the name."""
    frame = av.AudioFrame.from_ndarray(
        np.frombuffer(pcm, "<i2").reshape(1, -1), format="s16", layout="mono"
    )
    frame.sample_rate = RATE_HZ
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, rate=rate_hz, layout=layout)
        resampler = av.AudioResampler(
            format=stream.format, layout=layout, rate=rate_hz, frame_size=1152
        )
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path
