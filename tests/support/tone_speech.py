"""Speech in tones: every word has a pitch, and a speech recognition that knows them by ear.

What such a recognition hears depends on nothing but the sound, so a test sees at once what
was left out, heard twice, or given to another turn.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.base import ModelInfo, Transcript
from s2s_actors.backends.scripted_base import pause
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from s2s_actors.backends.base import Call, Kind, SttRequest

__all__ = ["ToneStt", "say"]

WORD_MS = 140
"""Length of a word."""
_GAP_MS = 20
_LOWEST_HZ, _STEP_HZ, _WORDS = 400, 60, 90
_RATE_HZ = 16_000
_FRAME_SAMPLES = _RATE_HZ // 50
_SHORTEST_WORD_FRAMES = 3
_LOUD_RMS = 0.02
# A tone has nearly all of its energy around its pitch, and noise has not.
_PURE = 0.7

_VOCABULARY: dict[str, float] = {}


def say(text: str, *, word_ms: int = WORD_MS) -> bytes:
    """A text of up to 90 different words in all tests as 24 kHz PCM, without a pause in it."""
    words = re.findall(r"\S+", text)
    return silence(_GAP_MS).join(tone(word_ms, hz=_pitch_hz(word)) for word in words)


def _pitch_hz(word: str) -> float:
    assert word in _VOCABULARY or len(_VOCABULARY) < _WORDS, "too many words"
    return _VOCABULARY.setdefault(word, _LOWEST_HZ + _STEP_HZ * float(len(_VOCABULARY)))


def _word(frame: NDArray[np.float64]) -> str | None:
    if np.sqrt(np.mean(frame**2)) < _LOUD_RMS:
        return None
    spectrum = np.abs(np.fft.rfft(frame * np.hanning(frame.size), n=_RATE_HZ // 5)) ** 2
    at_hz = 5 * int(np.argmax(spectrum))
    around = spectrum[max(0, at_hz // 5 - 24) : at_hz // 5 + 25]
    if around.sum() < _PURE * spectrum.sum():
        return None
    near = [word for word, hz in _VOCABULARY.items() if abs(hz - at_hz) <= _STEP_HZ // 3]
    return near[0] if near else None


class ToneStt:
    """Writes down what is said in tones; noise and clicks are no words.

    Args:
        delay_ms: How long it takes for that.
    """

    kind: Kind = "stt"

    def __init__(self, *, delay_ms: float = 0) -> None:
        self._delay_ms = delay_ms

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        return ModelInfo(id="tones", kind="stt", backend="tests", source="built-in")

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """The words, in order."""
        if pause(call.cancel, self._delay_ms):
            return Transcript("")
        samples = np.frombuffer(request.pcm, "<i2").astype(np.float64) / 32768
        frames = samples[: len(samples) // _FRAME_SAMPLES * _FRAME_SAMPLES]
        heard = [_word(frame) for frame in frames.reshape(-1, _FRAME_SAMPLES)]
        runs = ((word, len(list(run))) for word, run in groupby(heard))
        words = [word for word, frames in runs if word and frames >= _SHORTEST_WORD_FRAMES]
        return Transcript(" ".join(words))

    def warm_up(self) -> None:
        """Nothing to warm up."""

    def close(self) -> None:
        """Nothing to free."""
