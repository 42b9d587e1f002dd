"""Whisper writes down what Piper says, and nothing where nobody speaks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
import soxr

from s2s_actors.backends.base import BackendOptions, Call, SttRequest, Transcript, TtsRequest
from s2s_actors.backends.whisper import FasterWhisper
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken
from tests.backends.noises import NOISES
from tests.support.speech import Speaker, words

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from s2s_actors.backends.base import SpeechToText, TextToSpeech

pytestmark = pytest.mark.models

FOX = "The quick brown fox jumps over the lazy dog."
SENTENCES = (
    FOX,
    "What is the capital of France?",
    "Tomorrow the weather will be sunny and warm.",
    "I would like to have a cup of coffee.",
)
FAST = (
    "There was a letter inside, and the man began to read. It came from a young woman on the other "
    "side of the ocean. So the man went home and sat down at the kitchen table."
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


def _pcm(samples: NDArray[np.float64]) -> bytes:
    pcm: bytes = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    return pcm


def _fast(piper: TextToSpeech, text: str) -> bytes:
    call = Call("speaker", CancelToken())
    pcm = b"".join(piper.synthesize(TtsRequest(text, speed=1.4), call))
    samples = np.frombuffer(pcm, "<i2") / 32768
    return _pcm(soxr.resample(samples, piper.sample_rate_hz, 16_000))


def _in_a_room(pcm: bytes, noise_level: float) -> bytes:
    """The words with 0.2 s before and 0.3 s after them, in noise."""
    speech = np.frombuffer(pcm, "<i2") / 32768
    whole = np.concatenate([np.zeros(3_200), speech, np.zeros(4_800)])
    return _pcm(whole + np.random.default_rng(1).standard_normal(whole.size) * noise_level)


@pytest.mark.parametrize("text", SENTENCES)
def test_speech_comes_back_as_text(whisper: SpeechToText, speaker: Speaker, text: str) -> None:
    assert words(_hear(whisper, speaker.say(text))) == words(text)


@pytest.mark.parametrize("samples", [0, 1, 16_000, 800_000])
def test_silence_gives_no_text(whisper: SpeechToText, samples: int) -> None:
    assert _hear(whisper, bytes(2 * samples)) == ""


@pytest.mark.parametrize("kind", NOISES)
def test_what_is_no_speech_gives_no_text(whisper: SpeechToText, kind: str) -> None:
    for seconds in (0.3, 1.5, 3.0):
        noise = NOISES[kind](seconds)
        heard = [_hear(whisper, _pcm(noise * level)) for level in (0.003, 0.05, 0.4)]
        assert heard == ["", "", ""], f"{seconds} s"


@pytest.mark.parametrize("word", ["Stop.", "Yes.", "No.", "Okay.", "Wait."])
@pytest.mark.parametrize("noise_level", [0.0, 0.01], ids=["quiet", "noise"])
def test_a_single_word_is_heard_once(
    whisper: SpeechToText, speaker: Speaker, word: str, noise_level: float
) -> None:
    assert words(_hear(whisper, _in_a_room(speaker.say(word), noise_level))) == words(word)


@pytest.mark.parametrize("text", ["Wait a moment.", "Give me the short version.", "Thank you."])
def test_a_short_sentence_does_not_start_over(
    whisper: SpeechToText, speaker: Speaker, text: str
) -> None:
    assert len(words(_hear(whisper, speaker.say(text)))) == len(words(text))


def test_fast_speech_is_not_cut_off(whisper: SpeechToText, piper: TextToSpeech) -> None:
    heard = words(_hear(whisper, _fast(piper, FAST)))
    assert heard[-4:] == words(FAST)[-4:]


def test_what_the_beginning_of_a_word_gives_can_be_said_in_its_time(
    whisper: SpeechToText, speaker: Speaker
) -> None:
    for text in ("How much does it cost?", "Let me ask something else.", "Yes, of course."):
        pcm = speaker.say(text)
        loud = np.abs(np.frombuffer(pcm, "<i2")) > 1_000
        start = int(np.argmax(loud))
        for ms in (160, 256, 400):
            heard = _hear(whisper, pcm[2 * start : 2 * (start + 16 * ms)])
            assert len(heard) <= 8 + 30 * ms / 1_000


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
    # The voice is never quite the same twice, and a word of it may be misheard; none strays.
    for text, said in zip(heard, SENTENCES * 2, strict=True):
        assert len(set(words(said)) - set(words(text))) <= 1
        assert len(set(words(text)) - set(words(said))) <= 1


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


def test_long_speech_is_given_up_between_windows(whisper: SpeechToText, speaker: Speaker) -> None:
    class SoonCancelled(CancelToken):
        polls = 0

        @property
        def cancelled(self) -> bool:
            self.polls += 1
            return self.polls > 6

    five_minutes = (speaker.say(STORY) * 10)[: 2 * 16_000 * 300]
    call = Call("s", SoonCancelled())
    heard = words(whisper.transcribe(SttRequest(five_minutes), call).text)
    assert 0 < len(heard) < 2 * len(words(STORY))
