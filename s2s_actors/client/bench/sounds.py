"""Sounds that are no words for the agent: ten kinds of noise, coughs, and short hums of assent.

All are made here from sines and filtered noise, the same each time: nothing is recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from s2s_actors.client.audio_file import SAMPLE_RATE_HZ

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

__all__ = ["BURSTS", "HUMS", "NOISES", "burst", "hum", "noise"]

_NOISE_RMS_DB: Final = -32.0
"""Level of the noises: as a room is heard by a laptop, clearly below near speech."""
_BURST_RMS_DB: Final = -20.0


def noise(kind: str, length_ms: int) -> bytes:
    """A kind of :data:`NOISES` (24 kHz PCM, -32 dBFS RMS)."""
    return _pcm(NOISES[kind](_times(length_ms)), _NOISE_RMS_DB)


def burst(kind: str) -> bytes:
    """A kind of :data:`BURSTS` (24 kHz PCM, -20 dBFS RMS), 10 to 300 ms long."""
    length_ms, make = BURSTS[kind]
    return _pcm(make(_times(length_ms)), _BURST_RMS_DB)


def hum(length_ms: int) -> bytes:
    """A short hum as of a listener: a falling voice with three harmonics (24 kHz PCM)."""
    t = _times(length_ms)
    phase = 2 * np.pi * np.cumsum(np.linspace(150, 115, len(t))) / SAMPLE_RATE_HZ
    voice = np.sin(phase) + 0.6 * np.sin(2 * phase) + 0.3 * np.sin(3 * phase)
    return _pcm(voice * np.hanning(len(t)), _BURST_RMS_DB)


def _times(length_ms: int) -> Samples:
    return np.arange(length_ms * SAMPLE_RATE_HZ // 1000, dtype=np.float64) / SAMPLE_RATE_HZ


def _pcm(samples: Samples, rms_db: float) -> bytes:
    rms = float(np.sqrt(np.mean(samples**2))) or 1.0
    scaled = samples * 32768 * 10 ** (rms_db / 20) / rms
    return scaled.clip(-32768, 32767).astype("<i2").tobytes()


def _white(t: Samples, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).normal(size=len(t))


def _coloured(t: Samples, exponent: float, low_hz: float = 20.0, high_hz: float = 12e3) -> Samples:
    """Noise whose amplitude falls with frequency to the power of ``exponent``, in a band."""
    spectrum = np.fft.rfft(_white(t))
    hz = np.fft.rfftfreq(len(t), 1 / SAMPLE_RATE_HZ)
    band = (hz >= low_hz) & (hz <= high_hz)
    shaped = np.where(band, spectrum / np.maximum(hz, low_hz) ** exponent, 0.0)
    filtered: Samples = np.fft.irfft(shaped, len(t))
    return filtered


def _mains(t: Samples) -> Samples:
    overtones = np.array([1.0, 2.0, 3.0, 5.0])
    waves: Samples = np.sin(2 * np.pi * 50 * np.outer(overtones, t)) / overtones[:, None]
    hum: Samples = waves.sum(axis=0)
    return hum


def _fan(t: Samples) -> Samples:
    blades = 1 + 0.3 * np.sin(2 * np.pi * 23 * t)
    return _coloured(t, 0.7, high_hz=2500) * blades


def _struck(t: Samples, every_s: float, decay_s: float, seed: int) -> Samples:
    """How loud something is that is struck again and again, not quite evenly."""
    rng = np.random.default_rng(seed)
    loudness = np.zeros(len(t))
    at_s = 0.1
    while len(t) and at_s < t[-1]:
        since = t - at_s
        loudness += np.where(since >= 0, np.exp(-np.maximum(since, 0) / decay_s), 0.0)
        at_s += every_s * rng.uniform(0.6, 1.4)
    return loudness


def _keyboard(t: Samples) -> Samples:
    return _coloured(t, 0.0, 1500, 9000) * _struck(t, 0.16, 0.006, 2)


def _coughs(t: Samples) -> Samples:
    return _coloured(t, 0.3, 200, 4000) * _struck(t, 1.3, 0.09, 3)


def _chirps(t: Samples) -> Samples:
    sweep = np.sin(2 * np.pi * (2000 * t + 700 * np.sin(2 * np.pi * 6 * t) / 6))
    return sweep * _struck(t, 0.7, 0.08, 4)


def _chords(t: Samples) -> Samples:
    chords = ((220, 277, 330), (196, 247, 294), (175, 220, 262), (165, 208, 247))
    which = (t / 1.5).astype(int) % len(chords)
    notes = np.array(chords, dtype=float)[which]
    tones = np.sin(2 * np.pi * np.cumsum(notes, axis=0) / SAMPLE_RATE_HZ)
    music: Samples = np.sum(tones, axis=1) * (0.4 + 0.6 * np.exp(-(t % 1.5) / 0.5))
    return music


def _breath(t: Samples) -> Samples:
    breaths: Samples = np.maximum(0.0, np.sin(2 * np.pi * t / 3)) ** 2
    return _coloured(t, 0.4, 300, 5000) * breaths


NOISES: Final[Mapping[str, Callable[[Samples], Samples]]] = {
    "white": _white,
    "pink": lambda t: _coloured(t, 0.5),
    "brown": lambda t: _coloured(t, 1.0),
    "mains hum": _mains,
    "fan": _fan,
    "keyboard": _keyboard,
    "coughs": _coughs,
    "chirps": _chirps,
    "chords": _chords,
    "breath": _breath,
}
"""Kinds of noise that go on for seconds."""

BURSTS: Final[Mapping[str, tuple[int, Callable[[Samples], Samples]]]] = {
    "cough": (300, lambda t: _coloured(t, 0.3, 200, 4000) * np.exp(-t / 0.09)),
    "click": (10, lambda t: _white(t) * np.exp(-t / 0.003)),
    "rustle": (250, lambda t: _coloured(t, 0.0, 1000, 8000) * np.hanning(len(t))),
}
"""Kinds of short sound: their length in ms, and how they are made."""

HUMS: Final = (200, 300, 450)
"""Lengths in ms of the hums that stand in where no voice is installed."""
