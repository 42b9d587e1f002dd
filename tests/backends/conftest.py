"""The real models, loaded once for all tests that are marked ``models``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.piper_voice import PiperVoice
from s2s_actors.backends.registry import load_backend
from tests.support.speech import Speaker

if TYPE_CHECKING:
    from s2s_actors.backends.base import LanguageModel, SpeechToText, TextToSpeech


@pytest.fixture(scope="session")
def piper() -> TextToSpeech:
    backend = PiperVoice.load(BackendOptions(), print)
    # The same words sound the same each time: what Whisper makes of them is no matter of luck.
    backend._voice.config.noise_scale = backend._voice.config.noise_w_scale = 0.0
    return backend


@pytest.fixture(scope="session")
def whisper() -> SpeechToText:
    return load_backend("stt", "faster-whisper", BackendOptions())


@pytest.fixture(scope="session")
def smollm() -> LanguageModel:
    return load_backend("llm", "transformers", BackendOptions())


@pytest.fixture(scope="session")
def speaker(piper: TextToSpeech) -> Speaker:
    return Speaker(piper)
