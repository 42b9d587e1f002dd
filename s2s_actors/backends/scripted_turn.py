"""The scripted end of turn: how finished an utterance sounds depends on its pauses alone.

Nothing is remembered from one call to the next, so sessions can't disturb each other, and
who asks twice in the same pause gets the same answer twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.scripted_base import Scripted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from s2s_actors.backends.base import Kind

__all__ = ["ScriptedTurn"]

_SAMPLE_RATE_HZ = 16_000
# Above it is speech: where the scripted voice activity detector gives even odds, too.
_LOUD_RMS = 0.01
_FRAME_SAMPLES = _SAMPLE_RATE_HZ // 50
# 100 ms: the gaps inside of a word are shorter, those that end a turn longer.
_PAUSE_FRAMES = 5


class ScriptedTurn(Scripted):
    """Counts the pauses of an utterance, and gives the script's answer to the last of them.

    A pause is 100 ms or more without a loud frame. Only the last 8 s count.
    """

    kind: Kind = "turn"
    sample_rate_hz = _SAMPLE_RATE_HZ
    window_samples = 8 * _SAMPLE_RATE_HZ

    def completeness(self, audio: NDArray[np.float32]) -> float:
        """The script's answer to the pause that follows the last loud frame."""
        return self._script.turn.answer(_stretches(audio[-self.window_samples :]))


def _stretches(audio: NDArray[np.float32]) -> int:
    """How many stretches of loud frames there are, with a pause between each two."""
    frames = audio[audio.size % _FRAME_SAMPLES :].reshape(-1, _FRAME_SAMPLES)
    rms = np.sqrt(np.mean(np.square(frames, dtype=np.float64), axis=1))
    loud = np.flatnonzero(rms > _LOUD_RMS)
    return int(np.count_nonzero(np.diff(loud, prepend=-_PAUSE_FRAMES - 1) > _PAUSE_FRAMES))
