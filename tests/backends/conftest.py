"""The real models, loaded once for all tests that are marked ``models``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.registry import load_backend
from tests.support.speech import Speaker, steady_voice

if TYPE_CHECKING:
    from s2s_actors.backends.base import LanguageModel, SpeechToText, TextToSpeech


@pytest.fixture(scope="session")
def piper() -> TextToSpeech:
    return steady_voice()


@pytest.fixture(scope="session")
def whisper() -> SpeechToText:
    return load_backend("stt", "faster-whisper", BackendOptions())


@pytest.fixture(scope="session")
def smollm() -> LanguageModel:
    return load_backend("llm", "transformers", BackendOptions())


@pytest.fixture(scope="session")
def speaker(piper: TextToSpeech) -> Speaker:
    return Speaker(piper)
