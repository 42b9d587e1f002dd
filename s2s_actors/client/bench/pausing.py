"""Puts a pause into the middle of a sentence, as somebody who has to think would make it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from s2s_actors.client.audio_file import SAMPLE_RATE_HZ
from s2s_actors.client.bench.clips import Clip

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["paused", "quietest_place_ms"]

_WINDOW_MS: Final = 40
_STEP_MS: Final = 10
_FADE_MS: Final = 5
_MIDDLE: Final = (0.3, 0.7)
"""Part of the speech in which the pause may lie; both halves shall be worth answering."""
_FLOOR_PERCENTILE: Final = 5
_LEAST_FLOOR_RMS: Final = 32768 * 10 ** (-75 / 20)


def quietest_place_ms(clip: Clip) -> int:
    """Where the middle of the speech is quietest (40 ms, on a grid of 10 ms)."""
    samples = _samples(clip.pcm)
    length_ms = clip.end_ms - clip.start_ms
    first, last = (clip.start_ms + int(length_ms * part) for part in _MIDDLE)
    places = range(first, max(first + 1, last), _STEP_MS)
    return min(places, key=lambda place: _rms(samples, place - _WINDOW_MS // 2))


def paused(clip: Clip, pause_ms: int, *, seed: int = 1) -> Clip:
    """Cut the clip at its quietest place in the middle and put a pause in between.

    The pause is noise as loud as the quietest frames of the clip, so the room stays the
    same; both cuts are faded over 5 ms, so nothing clicks.
    """
    samples, place = _samples(clip.pcm), quietest_place_ms(clip)
    cut = _at(place)
    fade = np.linspace(1.0, 0.0, _at(_FADE_MS))
    before, after = samples[:cut].copy(), samples[cut:].copy()
    before[-len(fade) :] *= fade
    after[: len(fade)] *= fade[::-1][: len(after)]
    rng = np.random.default_rng(seed)
    pause = rng.normal(scale=_floor_rms(samples), size=_at(pause_ms))
    joined = np.concatenate((before, pause, after)).clip(-32768, 32767)
    return Clip(
        f"{clip.name} with {pause_ms} ms",
        joined.astype("<i2").tobytes(),
        clip.start_ms,
        clip.end_ms + pause_ms,
        clip.reference,
    )


def _samples(pcm: bytes) -> NDArray[np.float64]:
    return np.frombuffer(pcm, "<i2").astype(np.float64)


def _at(ms: int) -> int:
    return ms * SAMPLE_RATE_HZ // 1000


def _rms(samples: NDArray[np.float64], start_ms: int) -> float:
    window = samples[_at(max(0, start_ms)) : _at(start_ms + _WINDOW_MS)]
    return float(np.sqrt(np.mean(window**2))) if len(window) else 0.0


def _floor_rms(samples: NDArray[np.float64]) -> float:
    frames = samples[: len(samples) // _at(_STEP_MS) * _at(_STEP_MS)].reshape(-1, _at(_STEP_MS))
    levels = np.sqrt(np.mean(frames**2, axis=1))
    return max(_LEAST_FLOOR_RMS, float(np.percentile(levels, _FLOOR_PERCENTILE)))
