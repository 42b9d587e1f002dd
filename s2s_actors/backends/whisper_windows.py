"""Whisper over one short window: the encoder sees the utterance, and silence is a constant.

Whisper was trained on windows of 30 s. Encoding one takes 0.37 s (tiny.en, one core), ten
times as long as the few seconds of a turn need, but in a window that ends with the speech the
decoder does not see that it is over and writes the same text again: for a third of short
utterances. What the encoder makes of silence hardly depends on what was said before, so the
silence is encoded once, and its end goes behind every utterance.

With silence up to the tenth second the text still starts over for 3 of 100 utterances, nearly
all of one word; up to the thirtieth it never did, but every token costs half as much again.
So 10 s come first, and what then looks wrong is read once more, out of the same encoding.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ctranslate2
import numpy as np
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens

from s2s_actors.backends.base import TokenLogprob
from s2s_actors.backends.plausible_text import first_time, has_words, repeats, too_fast

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from numpy.typing import NDArray

__all__ = [
    "LOG_PROBABILITY",
    "LONGEST_S",
    "NO_SPEECH",
    "SMALLEST_PROBABILITY",
    "Heard",
    "Windows",
    "trimmed",
]

LONGEST_S = 28.0
"""Seconds of audio that one window takes."""

# Thresholds of the Whisper paper (section 4.5) and its reference code.
NO_SPEECH, LOG_PROBABILITY = 0.6, -1.0

SMALLEST_PROBABILITY = 1e-10
"""Keeps logarithms finite."""

_SAMPLE_RATE_HZ = 16_000
_FRAMES_PER_S, _POSITIONS_PER_S = 100, 50
_WINDOW_STEP_S = 0.5
# The model wants to hear that a word is over; features padded with zeros are near silence.
_WINDOW_TAIL_S = 0.3
# Of what is so short, often the beginning of a word without a pause before it, more is
# understood with silence around it (of 27 beginnings of 192 ms: 13 against 4).
_FRAGMENT_S, _SILENCE_BEFORE_S, _SILENCE_BEHIND_S = 1.0, 0.2, 0.3
_FIRST_READING_S, _SILENCE_AFTER_S, _WHOLE_S = 10.0, 2.0, 30.0
# Fast speech has 4 words a second and rarely more than 2 tokens a word.
_TOKENS_PER_S, _SPARE_TOKENS = 8, 6
# The decoder has 448 positions, and CTranslate2 gives the text half of its ``max_length`` or
# what the prompt leaves, whichever is less.
_MOST_TOKENS = 220
# Noise that came out as words had at least 0.75 of no speech at a log probability below -1.2,
# but for coughs ("Okay."): 0.81 to 0.92 at -0.6 and less. Single words in noise have 0.83 at most
# and above -1.0 on a second reading; their beginnings of 0.16 s up to 0.95.
_DOUBTFUL_LOG_PROBABILITY = -0.8
_SURELY_NO_SPEECH, _SURELY_NO_FRAGMENT, _WHOLE_WORD_S = 0.84, 0.95, 0.5
# What is shorter holds few words, and more time would only add some that nobody said.
_WORTH_A_LONG_WINDOW_S = 2.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What came out of one window.

    Attributes:
        text: As the model wrote it, trimmed.
        language: ISO-639-1 code, as asked for or detected.
        no_speech: Probability in 0..1 that nobody spoke.
        log_probability: Mean over the tokens, their end included.
        runs_on: Whether the text came to no end, and another way of reading may help.
        duration_s: Length of the audio.
        written: The model's own numbers for the text, without its end.
        tokens: The words with their probabilities, if they were asked for.
    """

    text: str
    language: str
    no_speech: float
    log_probability: float
    runs_on: bool
    duration_s: float
    written: tuple[int, ...]
    tokens: tuple[TokenLogprob, ...] = ()

    @property
    def is_speech(self) -> bool:
        """Whether there are words, and not such as the model makes of noise."""
        unlikely = self.no_speech > NO_SPEECH and self.log_probability < LOG_PROBABILITY
        is_fragment = self.duration_s < _WHOLE_WORD_S
        surely_not = _SURELY_NO_FRAGMENT if is_fragment else _SURELY_NO_SPEECH
        return has_words(self.text) and not unlikely and self.no_speech <= surely_not

    @property
    def is_odd(self) -> bool:
        """Whether a second reading is worth its time."""
        if not has_words(self.text):
            return False
        likely = self.no_speech <= NO_SPEECH or self.log_probability > _DOUBTFUL_LOG_PROBABILITY
        return not likely or self.runs_on or repeats(self.text) or self.is_too_fast

    @property
    def is_too_fast(self) -> bool:
        """Whether nobody can have said so much in the time."""
        return too_fast(self.text, self.duration_s)


class Windows:
    """Hears utterances of up to :data:`LONGEST_S` with one Whisper model.

    Calls may come from several threads at once.
    """

    def __init__(self, model: WhisperModel) -> None:
        self._model = model
        self._whisper: Any = model.model
        mels = model.feature_extractor.mel_filters.shape[0]
        # Zeros are what the library, too, puts behind the features of an utterance.
        self._silence = self._encode(np.zeros((mels, int(_WHOLE_S * _FRAMES_PER_S)), np.float32))

    def warm_up(self) -> None:
        """Read once.

        CTranslate2 packs weights and allocates on first use, the encoder in the constructor. With
        that done, a window of a length that was not used before is as fast as ever after
        (measured).
        """
        self.hear(np.zeros(_SAMPLE_RATE_HZ, np.float32), "en", None)

    def hear(
        self,
        audio: NDArray[np.float32],
        language: str | None,
        prompt: str | None,
        *,
        logprobs: bool = False,
        once: bool = False,
    ) -> Heard:
        """Transcribe greedily, a second time if the first result looks odd.

        Args:
            audio: Mono samples in -1..1 at 16 kHz, :data:`LONGEST_S` at most.
            language: ISO-639-1 code, None to detect.
            prompt: What the text may continue, None for nothing.
            logprobs: Whether the words' probabilities are wanted.
            once: Whether the first result will do, odd or not.
        """
        duration_s = audio.size / _SAMPLE_RATE_HZ
        speech = self._encode(self._features(audio))
        shorter_s = max(_FIRST_READING_S, duration_s + _SILENCE_AFTER_S)
        encoded = self._with_silence(speech, shorter_s)
        if language is None:
            language = self._whisper.detect_language(encoded)[0][0][0].strip("<|>")
        tokenizer = Tokenizer(
            self._model.hf_tokenizer,
            self._whisper.is_multilingual,
            task="transcribe",
            language=language,
        )
        reading = self._read(encoded, tokenizer, prompt, duration_s)
        if reading.is_odd and not once:
            encoded = self._with_silence(speech, _WHOLE_S)
            reading = self._read(encoded, tokenizer, prompt, duration_s)
        if reading.is_too_fast:
            reading = _as_said(reading, tokenizer)
        if logprobs:
            return replace(reading, tokens=self._words(encoded, tokenizer, reading.written))
        return reading

    def _features(self, audio: NDArray[np.float32]) -> NDArray[np.float32]:
        if audio.size < _FRAGMENT_S * _SAMPLE_RATE_HZ:
            around_s = (_SILENCE_BEFORE_S, _SILENCE_BEHIND_S)
            audio = np.pad(audio, [int(one * _SAMPLE_RATE_HZ) for one in around_s])
        steps = math.ceil((audio.size / _SAMPLE_RATE_HZ + _WINDOW_TAIL_S) / _WINDOW_STEP_S)
        frames = int(steps * _WINDOW_STEP_S * _FRAMES_PER_S)
        features: NDArray[np.float32] = self._model.feature_extractor(audio)[:, :frames]
        # Padded with zeros after normalisation, as the library does.
        return np.pad(features, ((0, 0), (0, frames - features.shape[1])))

    def _encode(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Positions by width of the model, 50 positions a second."""
        encoded: NDArray[np.float32] = np.asarray(self._model.encode(features))[0]
        return encoded

    def _with_silence(self, speech: NDArray[np.float32], until_s: float) -> ctranslate2.StorageView:
        end = min(int(until_s * _POSITIONS_PER_S), len(self._silence))
        whole = np.concatenate([speech, self._silence[len(speech) : end]])
        return ctranslate2.StorageView.from_array(whole[np.newaxis])

    def _read(
        self,
        encoded: ctranslate2.StorageView,
        tokenizer: Tokenizer,
        prompt: str | None,
        duration_s: float,
    ) -> Heard:
        previous = tokenizer.encode(f" {prompt.strip()}") if prompt else []
        start = self._model.get_prompt(tokenizer, previous, without_timestamps=True)
        longest = min(_MOST_TOKENS, _SPARE_TOKENS + int(duration_s * _TOKENS_PER_S))
        result = self._whisper.generate(
            encoded,
            [start],
            beam_size=1,
            max_length=longest + max(longest, len(start)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
        )[0]
        written = result.sequences_ids[0]
        return Heard(
            text=tokenizer.decode(written).strip(),
            language=tokenizer.language_code,
            no_speech=result.no_speech_prob,
            log_probability=result.scores[0] * len(written) / (len(written) + 1),
            runs_on=len(written) >= longest and duration_s > _WORTH_A_LONG_WINDOW_S,
            duration_s=duration_s,
            written=tuple(token for token in written if token < tokenizer.eot),
        )

    def _words(
        self, encoded: ctranslate2.StorageView, tokenizer: Tokenizer, written: tuple[int, ...]
    ) -> tuple[TokenLogprob, ...]:
        """How sure the model is of each word: another run of the decoder over what it wrote."""
        if not written:
            return ()
        frames = encoded.shape[1] * _FRAMES_PER_S // _POSITIONS_PER_S
        aligned = self._whisper.align(encoded, tokenizer.sot_sequence, [list(written)], frames)[0]
        words, pieces = tokenizer.split_to_word_tokens([*written, tokenizer.eot])
        logs = iter(np.log(np.maximum(aligned.text_token_probs, SMALLEST_PROBABILITY)).tolist())
        return trimmed(
            [
                (word, sum(itertools.islice(logs, len(piece))))
                for word, piece in zip(words[:-1], pieces[:-1], strict=True)
            ]
        )


def _as_said(reading: Heard, tokenizer: Tokenizer) -> Heard:
    """Text that starts over, once; of other text too long for its audio nothing is true."""
    text = first_time(reading.text)
    if not text and reading.runs_on:
        return reading
    written = tuple(tokenizer.encode(f" {text}"))
    return replace(reading, text=text, runs_on=False, written=written)


def trimmed(found: list[tuple[str, float]], head: str = "") -> tuple[TokenLogprob, ...]:
    """Words that add up to the trimmed text of them all, with something else in front."""
    words = [word for word, _ in found]
    if words:
        words[0] = head + words[0].lstrip()
        words[-1] = words[-1].rstrip()
    return tuple(TokenLogprob(word, found[index][1]) for index, word in enumerate(words) if word)
