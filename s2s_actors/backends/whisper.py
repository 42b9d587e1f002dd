"""Speech to text with faster-whisper (CTranslate2), by default tiny.en in 8-bit integers.

Whisper was trained on windows of 30 s and the library pads every utterance to that. The
encoder takes shorter windows too, at a cost that falls with their length: 0.1 s for 10 s
against 0.35 s for 30 s (tiny.en, 2 cores), with the same text on the clips tried. In windows under
8 s the model tends to start again after the end, so none is shorter than 10 s, and the
length of the text is bounded by that of the audio. What does not fit, or runs into that
bound, goes the library's own way.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens, tqdm

from s2s_actors.backends.base import ModelInfo, TokenLogprob, Transcript
from s2s_actors.backends.cpu import MODEL_THREADS, WORKERS
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.backends.weights import WHISPER_TINY_EN, existing_path, looks_like_path
from s2s_actors.errors import SetupError, StageError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import BackendOptions, Call, Progress, SttRequest

__all__ = ["FasterWhisper"]

_SAMPLE_RATE_HZ = 16_000
_FRAMES_PER_S = 100
_WINDOW_STEP_S, _SHORTEST_WINDOW_S, _LONGEST_WINDOW_S = 5, 10, 25
# Room after the speech: without it the model does not see that the speech is over.
_WINDOW_TAIL_S = 1.0
# Fast speech has 4 words a second and rarely more than 2 tokens a word.
_TOKENS_PER_S, _SPARE_TOKENS = 8, 24

# Thresholds of the Whisper paper (section 4.5) and its reference code, but for the second:
# a window of noise gave 0.87 to 0.99 with "you" or "." at a good likelihood, speech at most
# 0.36, a fragment of 0.4 s included.
_NO_SPEECH, _SURELY_NO_SPEECH = 0.6, 0.8
_LOG_PROBABILITY = -1.0
_COMPRESSION_RATIO = 2.4
_RETRY_TEMPERATURES = [0.0, 0.4]
# Below a tenth of the smallest 16-bit step a clip is digital silence.
_SILENT_PEAK = 3e-6
# Keeps logarithms finite.
_SMALLEST_PROBABILITY = 1e-10

# The library makes a progress bar even where none is shown, and a bar starts a thread that
# outlives it.
tqdm.monitor_interval = 0


@dataclass(frozen=True, slots=True)
class _Heard:
    """What came out of one window; ``runs_on`` where it had to be cut off."""

    text: str
    language: str
    no_speech_probability: float
    log_probability: float
    runs_on: bool
    tokens: tuple[TokenLogprob, ...] = ()

    @property
    def is_speech(self) -> bool:
        doubtful = self.no_speech_probability > _NO_SPEECH
        unlikely = self.log_probability < _LOG_PROBABILITY
        surely_not = self.no_speech_probability > _SURELY_NO_SPEECH
        has_words = any(char.isalnum() for char in self.text)
        return has_words and not surely_not and not (doubtful and unlikely)


class FasterWhisper:
    """One Whisper model; as many calls at once as there are cores for, the rest in turn."""

    def __init__(self, model: WhisperModel, model_id: str, source: str) -> None:
        self._model = model
        self._turnstile = Turnstile(WORKERS)
        self.info = ModelInfo(id=model_id, kind="stt", backend="faster-whisper", source=source)

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Load tiny.en from its package, or the model that ``--stt-model`` names.

        A name that faster-whisper knows (``small``, ``large-v3``) is fetched from the hub
        unless it is in its cache; the default and paths never touch the network.

        Raises:
            SetupError: The weights are missing or no Whisper model.
        """
        del progress
        wanted = options.model
        if wanted is None or wanted == WHISPER_TINY_EN.name:
            place = str(WHISPER_TINY_EN.path())
            model_id, source = WHISPER_TINY_EN.name, WHISPER_TINY_EN.distribution
        elif looks_like_path(wanted):
            path = existing_path("--stt-model", wanted)
            place, model_id, source = str(path), path.name, str(path)
        else:
            place = model_id = source = wanted
        is_path = place != wanted or looks_like_path(place)
        return cls(_open(place, local_files_only=is_path), model_id, source)

    def warm_up(self) -> None:
        """Run the shortest window once: CTranslate2 allocates and packs on first use."""
        self._hear(np.zeros(_SAMPLE_RATE_HZ, dtype=np.float32), "en", None)

    def close(self) -> None:
        """Nothing to free: the weights go with the object."""

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """Transcribe an utterance of any length; silence and noise give an empty text.

        Raises:
            StageError: The model does not know the language.
        """
        audio = np.frombuffer(request.pcm, dtype="<i2").astype(np.float32) / 32768.0
        language = self._language(request.language)
        if audio.size == 0 or float(np.abs(audio).max()) < _SILENT_PEAK:
            return Transcript("", language)
        if audio.size > (_LONGEST_WINDOW_S - _WINDOW_TAIL_S) * _SAMPLE_RATE_HZ:
            return self._transcribe_long(audio, language, request, call)
        with self._turnstile.turn(call.cancel, call.urgency) as go_on:
            if not go_on:
                return Transcript("", language)
            heard = self._hear(audio, language, request.prompt, logprobs=request.logprobs)
        if not heard.is_speech:
            return Transcript("", heard.language)
        if heard.runs_on:
            return self._transcribe_long(audio, heard.language, request, call)
        return Transcript(heard.text, heard.language, heard.tokens)

    def _language(self, wanted: str | None) -> str | None:
        if not self._model.model.is_multilingual:
            return "en"
        if wanted is not None and wanted not in self._model.supported_languages:
            raise StageError("unsupported_language", f"The model does not know {wanted!r}.")
        return wanted

    def _hear(
        self,
        audio: NDArray[np.float32],
        language: str | None,
        prompt: str | None,
        *,
        logprobs: bool = False,
    ) -> _Heard:
        """Transcribe what fits a short window, greedily and in one go."""
        duration_s = audio.size / _SAMPLE_RATE_HZ
        steps = math.ceil((duration_s + _WINDOW_TAIL_S) / _WINDOW_STEP_S)
        window_frames = max(_SHORTEST_WINDOW_S, steps * _WINDOW_STEP_S) * _FRAMES_PER_S
        features = self._model.feature_extractor(audio)[:, :window_frames]
        # Padded with zeros after normalisation, as the library does.
        features = np.pad(features, ((0, 0), (0, window_frames - features.shape[1])))
        encoded = self._model.encode(features)
        whisper: Any = self._model.model
        if language is None:
            language = whisper.detect_language(encoded)[0][0][0].strip("<|>")
        tokenizer = Tokenizer(
            self._model.hf_tokenizer, whisper.is_multilingual, task="transcribe", language=language
        )
        previous = tokenizer.encode(f" {prompt.strip()}") if prompt else []
        tokens = self._model.get_prompt(tokenizer, previous, without_timestamps=True)
        longest = _SPARE_TOKENS + int(duration_s * _TOKENS_PER_S)
        result = whisper.generate(
            encoded,
            [tokens],
            beam_size=1,
            max_length=len(tokens) + longest,
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
        )[0]
        written = result.sequences_ids[0]
        log_probability = result.scores[0] * len(written) / (len(written) + 1)
        text = tokenizer.decode(written).strip()
        runs_on = len(written) >= longest
        tokens = self._tokens(encoded, tokenizer, written, window_frames) if logprobs else ()
        return _Heard(text, language, result.no_speech_prob, log_probability, runs_on, tokens)

    def _tokens(
        self, encoded: Any, tokenizer: Tokenizer, written: list[int], window_frames: int
    ) -> tuple[TokenLogprob, ...]:
        """How sure the model is of each word: another run of the decoder over what it wrote."""
        text = [token for token in written if token < tokenizer.eot]
        if not text:
            return ()
        whisper: Any = self._model.model
        aligned = whisper.align(encoded, tokenizer.sot_sequence, [text], window_frames)[0]
        words, pieces = tokenizer.split_to_word_tokens([*text, tokenizer.eot])
        logs = iter(np.log(np.maximum(aligned.text_token_probs, _SMALLEST_PROBABILITY)).tolist())
        found = [
            (word, sum(itertools.islice(logs, len(piece))))
            for word, piece in zip(words[:-1], pieces[:-1], strict=True)
        ]
        return _trimmed(found)

    def _transcribe_long(
        self,
        audio: NDArray[np.float32],
        language: str | None,
        request: SttRequest,
        call: Call,
    ) -> Transcript:
        """Transcribe in the library's windows of 30 s, giving way between them."""
        texts: list[str] = []
        tokens: list[TokenLogprob] = []
        with self._turnstile.turn(call.cancel, call.urgency) as go_on:
            if not go_on:
                return Transcript("", language)
            segments, info = self._model.transcribe(
                audio,
                language=language,
                beam_size=1,
                temperature=_RETRY_TEMPERATURES,
                no_speech_threshold=_NO_SPEECH,
                log_prob_threshold=_LOG_PROBABILITY,
                compression_ratio_threshold=_COMPRESSION_RATIO,
                condition_on_previous_text=False,
                initial_prompt=request.prompt,
                word_timestamps=request.logprobs,
            )
        while True:
            with self._turnstile.turn(call.cancel, call.urgency) as go_on:
                segment = next(segments, None) if go_on else None
            if segment is None:
                break
            if segment.no_speech_prob <= _SURELY_NO_SPEECH:
                texts.append(segment.text.strip())
                found = [
                    (word.word, math.log(max(word.probability, _SMALLEST_PROBABILITY)))
                    for word in segment.words or ()
                ]
                tokens += _trimmed(found, " " if tokens else "")
        return Transcript(" ".join(texts), info.language, tuple(tokens))


def _trimmed(found: list[tuple[str, float]], head: str = "") -> tuple[TokenLogprob, ...]:
    """Words that add up to the trimmed text of them all, with something else in front."""
    words = [word for word, _ in found]
    if words:
        words[0] = head + words[0].lstrip()
        words[-1] = words[-1].rstrip()
    return tuple(TokenLogprob(word, found[index][1]) for index, word in enumerate(words) if word)


def _open(place: str, *, local_files_only: bool) -> WhisperModel:
    try:
        return WhisperModel(
            place,
            device="cpu",
            compute_type="int8",
            cpu_threads=MODEL_THREADS,
            num_workers=WORKERS,
            local_files_only=local_files_only,
        )
    # CTranslate2 raises RuntimeError, the hub OSError, a wrong name ValueError.
    except (RuntimeError, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise SetupError(
            f"--stt-model {place}: not a Whisper model that faster-whisper can load ({reason})",
            hint="give a directory with model.bin in it, or a name such as small.en",
        ) from error
