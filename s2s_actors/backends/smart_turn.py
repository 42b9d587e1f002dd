"""Smart Turn v3.2: hears from words and melody whether someone has finished speaking.

A Whisper encoder with a classifier on top, quantised to 8 bits (BSD-2-Clause); the wheel of
``pipecat-ai`` carries it. It was trained on the last 8 s of a turn, so the audio ends where
the window ends and zeros fill its beginning. Shapes, the name of the input and the probability
(not a logit, whatever the output is called) as in that package's ``LocalSmartTurnAnalyzerV3``.

Measured: an answer takes 45 ms of one core, 3 of them for the spectrogram. It is worth most
when 100 ms of silence follow the speech. The longer the silence, the more finished everything
sounds, whatever was said; only after fillers ("um") it stays below 0.02.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from transformers import WhisperFeatureExtractor

from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.cpu import CORES
from s2s_actors.backends.onnx_session import open_session
from s2s_actors.backends.weights import SMART_TURN

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import BackendOptions, Progress

__all__ = ["SmartTurn"]

_SAMPLE_RATE_HZ = 16_000
_WINDOW_S = 8
# Many sessions may ask at once, while the other models work: the cores are theirs.
_THREADS = 1


class SmartTurn:
    """One ONNX session; every call runs on the thread that makes it."""

    sample_rate_hz = _SAMPLE_RATE_HZ
    window_samples = _WINDOW_S * _SAMPLE_RATE_HZ

    def __init__(self, path: Path) -> None:
        self._session = open_session(path, _THREADS)
        self._features = WhisperFeatureExtractor(chunk_length=_WINDOW_S)

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Load the model; there are no options.

        Raises:
            SetupError: The weights are not installed.
        """
        del options, progress
        return cls(SMART_TURN.path())

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        source = SMART_TURN.distribution
        return ModelInfo(id=SMART_TURN.name, kind="turn", backend="smart-turn", source=source)

    def completeness(self, audio: NDArray[np.float32]) -> float:
        """Probability in 0..1 that the speaker has finished.

        Args:
            audio: Mono at 16 kHz; of more than 8 s the end counts.
        """
        end = audio[-self.window_samples :]
        window = np.pad(end, (self.window_samples - end.size, 0))
        features = self._features(
            window, sampling_rate=_SAMPLE_RATE_HZ, do_normalize=True, return_tensors="np"
        )
        inputs = {"input_features": features["input_features"]}
        with CORES.lend(_THREADS):
            [probability] = self._session.run(None, inputs)
        return float(probability[0, 0])

    def warm_up(self) -> None:
        """Hear silence: the first run allocates the model's buffers."""
        self.completeness(np.zeros(0, dtype=np.float32))

    def close(self) -> None:
        """Nothing to free: the weights go with the object."""
