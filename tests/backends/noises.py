"""Sounds that are no speech, at 16 kHz with a peak of 1, by their length in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

__all__ = ["NOISES"]

_RATE_HZ = 16_000
_SCALE_HZ = (262, 330, 392, 523, 440, 349)


def _times(seconds: float) -> NDArray[np.float64]:
    return np.arange(int(_RATE_HZ * seconds)) / _RATE_HZ


def _full(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    return samples / max(1e-9, float(np.abs(samples).max()))


def _coloured(seconds: float, power: float) -> NDArray[np.float64]:
    """Noise whose power falls with that power of the frequency."""
    white = np.random.default_rng(0).standard_normal(int(_RATE_HZ * seconds))
    spectrum = np.fft.rfft(white)
    falling = np.maximum(1, np.arange(spectrum.size)) ** (-power / 2)
    return _full(np.fft.irfft(spectrum * falling, white.size))


def _between(samples: NDArray[np.float64], low_hz: float, high_hz: float) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(samples.size, 1 / _RATE_HZ)
    return _full(np.fft.irfft(spectrum * ((hz >= low_hz) & (hz < high_hz)), samples.size))


def _bursts(seconds: float, starts_s: Iterable[float], long_s: float) -> NDArray[np.float64]:
    """Noise that dies away within ``long_s`` of each start."""
    times = _times(seconds)
    noise = _coloured(seconds, 0)
    since = [times - start for start in starts_s]
    envelope = sum(
        (np.exp(-4 * np.clip(t, 0, None) / long_s) * ((t >= 0) & (t < long_s)) for t in since),
        0 * times,
    )
    return _full(noise * envelope)


def _sines(seconds: float, *hz: float) -> NDArray[np.float64]:
    return _full(np.sum([np.sin(2 * np.pi * one * _times(seconds)) for one in hz], axis=0))


def _music(seconds: float) -> NDArray[np.float64]:
    times = _times(seconds)
    hz = np.array(_SCALE_HZ)[(times / 0.25).astype(int) % len(_SCALE_HZ)]
    phase = 2 * np.pi * np.cumsum(hz) / _RATE_HZ
    return _full((np.sin(phase) + np.sin(2 * phase) / 2) * np.exp(-6 * (times % 0.25)))


def _breath(seconds: float) -> NDArray[np.float64]:
    swell = np.sin(np.pi * _times(seconds) / seconds) ** 2
    return _full(_between(_coloured(seconds, 0), 1_000, 8_000) * swell)


NOISES: Final[dict[str, Callable[[float], NDArray[np.float64]]]] = {
    "white": lambda s: _coloured(s, 0),
    "pink": lambda s: _coloured(s, 1),
    "brown": lambda s: _coloured(s, 2),
    "hum": lambda s: _sines(s, 110),
    "mains-buzz": lambda s: np.sign(_sines(s, 50)) * 0.5 + _sines(s, 100) * 0.5,
    "fan": lambda s: _full(_between(_coloured(s, 0), 0, 300) + 0.3 * _sines(s, 120)),
    "clicks": lambda s: _bursts(s, np.arange(0.05, s, 0.3), 0.004),
    "keyboard": lambda s: _bursts(s, np.arange(0.03, s, 0.14), 0.02),
    "knocks": lambda s: _between(_bursts(s, (0.05, 0.2, 0.35), 0.08), 0, 400),
    "coughs": lambda s: _between(_bursts(s, (0.02, 0.4), 0.25), 0, 2_000),
    "breath": _breath,
    "music": _music,
    "chord": lambda s: _sines(s, 220, 277, 330),
    "beeps": lambda s: _sines(s, 1_000) * (_times(s) % 0.5 < 0.2),
}
