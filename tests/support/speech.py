"""Speech for tests, made on the spot by a text-to-speech backend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import soxr

from s2s_actors.backends.base import BackendOptions, Call, TtsRequest
from s2s_actors.backends.piper_voice import PiperVoice
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from s2s_actors.backends.base import TextToSpeech

__all__ = ["Speaker", "steady", "steady_voice", "words"]

STT_RATE_HZ = 16_000


def steady(voice: TextToSpeech) -> PiperVoice:
    """Let a voice say the same words in the same way each time.

    So what Whisper makes of them is no matter of luck.
    """
    assert isinstance(voice, PiperVoice)
    voice._voice.config.noise_scale = voice._voice.config.noise_w_scale = 0.0
    return voice


def steady_voice() -> PiperVoice:
    """The embedded voice, steady."""
    return steady(PiperVoice.load(BackendOptions(), print))


class Speaker:
    """Says texts as the STT wants to hear them: 16-bit mono PCM at 16 kHz."""

    def __init__(self, tts: TextToSpeech) -> None:
        self._tts = tts

    def say(self, text: str) -> bytes:
        """The text as speech."""
        call = Call("speaker", CancelToken())
        pcm = b"".join(self._tts.synthesize(TtsRequest(text), call))
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32)
        resampled = soxr.resample(samples, self._tts.sample_rate_hz, STT_RATE_HZ)
        heard: bytes = np.clip(resampled, -32768, 32767).astype("<i2").tobytes()
        return heard


def words(text: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())
