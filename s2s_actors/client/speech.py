"""Where speech begins and ends in a recording, by its energy.

This is the ruler that the server's own voice detection is measured with, so it is
deliberately simple and knows nothing of models. A 10 ms frame counts as speech when it is
louder than all three of: -60 dBFS, 35 dB below the loud parts, and 10 dB above the
recording's noise floor (but never asked to come within 20 dB of the loud parts, as a
recording without pauses shows no floor). A recording whose loud parts stay below
-50 dBFS holds no speech. Bursts shorter than 30 ms are clicks; pauses shorter than
200 ms belong to the speech around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from s2s_actors.client.audio_file import SAMPLE_RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["speech_end_ms", "speech_regions_ms"]

_FRAME_MS: Final = 10
_FRAME_SAMPLES: Final = SAMPLE_RATE_HZ * _FRAME_MS // 1000
_SHORTEST_SPEECH_FRAMES: Final = 3
_SHORTEST_PAUSE_FRAMES: Final = 20
_LOUD_PERCENTILE: Final = 98
_FLOOR_PERCENTILE: Final = 10


def speech_end_ms(pcm: bytes) -> int | None:
    """When the last speech in 24 kHz PCM ends (to 10 ms); None for silence."""
    regions = speech_regions_ms(pcm)
    return regions[-1][1] if regions else None


def speech_regions_ms(pcm: bytes) -> list[tuple[int, int]]:
    """Every stretch of speech in 24 kHz PCM as ``(start_ms, end_ms)``, in order."""
    levels_db = _levels_db(pcm)
    if not len(levels_db):
        return []
    audible = levels_db[levels_db > -90.0]  # digital silence says nothing about the noise
    if not len(audible):
        return []
    loud_db = float(np.percentile(audible, _LOUD_PERCENTILE))
    if loud_db < -50.0:
        return []
    floor_db = float(np.percentile(levels_db, _FLOOR_PERCENTILE))
    threshold_db = max(-60.0, loud_db - 35.0, min(floor_db + 10.0, loud_db - 20.0))
    return [(start * _FRAME_MS, end * _FRAME_MS) for start, end in _runs(levels_db > threshold_db)]


def _levels_db(pcm: bytes) -> NDArray[np.float64]:
    """Level of each 10 ms frame in dBFS; the last frame is padded with silence."""
    samples = np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float64) / 32768.0
    padded = np.pad(samples, (0, -len(samples) % _FRAME_SAMPLES)).reshape(-1, _FRAME_SAMPLES)
    levels_db: NDArray[np.float64] = 10.0 * np.log10(np.mean(padded**2, axis=1) + 1e-12)
    return levels_db


def _runs(active: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of active frames as ``(first, past_last)``: clicks dropped, short pauses closed."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8)))
    runs: list[tuple[int, int]] = []
    for first, past_last in edges.reshape(-1, 2).tolist():
        if past_last - first < _SHORTEST_SPEECH_FRAMES:
            continue
        if runs and first - runs[-1][1] < _SHORTEST_PAUSE_FRAMES:
            runs[-1] = (runs[-1][0], past_last)
        else:
            runs.append((first, past_last))
    return runs
