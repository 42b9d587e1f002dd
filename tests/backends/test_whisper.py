"""Whisper writes down what Piper says, and nothing where nobody speaks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.backends.base import BackendOptions, Call, SttRequest, Transcript
from s2s_actors.backends.whisper import FasterWhisper
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken
from tests.support.speech import Speaker, words

if TYPE_CHECKING:
    from pathlib import Path

    from s2s_actors.backends.base import SpeechToText, TextToSpeech

pytestmark = pytest.mark.models

FOX = "The quick brown fox jumps over the lazy dog."
SENTENCES = (
    FOX,
    "What is the capital of France?",
    "Tomorrow the weather will be sunny and warm.",
    "I would like to have a cup of coffee.",
)
STORY = (
    "A man lived in a small house near the sea. Every morning he walked along the beach with his "
    "dog. One day they found an old bottle in the sand. There was a letter inside, and the man "
    "began to read. It came from a young woman on the other side of the ocean. She asked whoever "
    "found the bottle to write back to her. So the man went home and sat down at the kitchen "
    "table. He told her about the wind and the waves, about his garden and the birds. Then he "
    "walked to the post office and sent the letter. After three months an answer came. "
    "They have been friends ever since, and next summer she will visit him."
)


def _hear(whisper: SpeechToText, pcm: bytes) -> str:
    return whisper.transcribe(SttRequest(pcm), Call("s", CancelToken())).text


def _noise(level: float, seconds: float = 2.0) -> bytes:
    samples = np.random.default_rng(0).standard_normal(int(16_000 * seconds)) * level
    return bytes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


@pytest.mark.parametrize("text", SENTENCES)
def test_speech_comes_back_as_text(whisper: SpeechToText, speaker: Speaker, text: str) -> None:
    assert words(_hear(whisper, speaker.say(text))) == words(text)


@pytest.mark.parametrize(
    "pcm",
    [b"", bytes(2), bytes(32_000), bytes(1_600_000), _noise(0.0005), _noise(0.02), _noise(0.2)],
    ids=["nothing", "one-sample", "silence-1s", "silence-50s", "hiss", "noise", "loud-noise"],
)
def test_silence_and_noise_give_no_text(whisper: SpeechToText, pcm: bytes) -> None:
    assert _hear(whisper, pcm) == ""


def test_an_utterance_of_several_windows_is_heard_in_full(
    whisper: SpeechToText, speaker: Speaker
) -> None:
    pcm = speaker.say(STORY)
    assert len(pcm) > 2 * 16_000 * 30
    expected, heard = set(words(STORY)), set(words(_hear(whisper, pcm)))
    assert len(expected & heard) > 0.9 * len(expected)


def test_four_at_once_get_their_own_texts(whisper: SpeechToText, piper: TextToSpeech) -> None:
    def round_trip(text: str) -> str:
        return _hear(whisper, Speaker(piper).say(text))

    with ThreadPoolExecutor(4) as pool:
        heard = list(pool.map(round_trip, SENTENCES * 2))
    assert [words(text) for text in heard] == [words(text) for text in SENTENCES * 2]


def test_a_cancelled_call_returns_at_once(whisper: SpeechToText, speaker: Speaker) -> None:
    call = Call("s", CancelToken())
    call.cancel.cancel()
    assert whisper.transcribe(SttRequest(speaker.say(FOX)), call).text == ""


def test_a_long_prompt_does_not_fail(whisper: SpeechToText, speaker: Speaker) -> None:
    request = SttRequest(speaker.say(FOX), language="en", prompt="animals, " * 300)
    heard = whisper.transcribe(request, Call("s", CancelToken())).text
    assert "fox" in words(heard)


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--stt-model"):
        FasterWhisper.load(BackendOptions(model=str(tmp_path)), print)


def test_a_model_path_that_does_not_exist_is_named() -> None:
    with pytest.raises(SetupError, match=r"--stt-model.*/no/such/model"):
        FasterWhisper.load(BackendOptions(model="/no/such/model"), print)


def test_a_hum_gives_no_text(whisper: SpeechToText) -> None:
    tone = (np.sin(2 * np.pi * 110 * np.arange(48_000) / 16_000) * 9_000).astype("<i2").tobytes()
    assert _hear(whisper, tone) == ""


def test_words_come_with_their_probabilities_if_they_are_wanted(
    whisper: SpeechToText, speaker: Speaker
) -> None:
    def heard(pcm: bytes, *, logprobs: bool) -> Transcript:
        return whisper.transcribe(SttRequest(pcm, logprobs=logprobs), Call("s", CancelToken()))

    for pcm in (speaker.say(FOX), speaker.say(STORY)):
        transcript = heard(pcm, logprobs=True)
        assert "".join(token.text for token in transcript.tokens) == transcript.text
        assert len(transcript.tokens) >= len(words(transcript.text))
        assert all(-25 < token.logprob <= 0 for token in transcript.tokens)
    sure = heard(speaker.say(FOX), logprobs=True).tokens
    assert sum(token.logprob for token in sure) / len(sure) > -1
    assert heard(speaker.say(FOX), logprobs=False).tokens == ()
    assert heard(bytes(32_000), logprobs=True) == Transcript("", "en")
