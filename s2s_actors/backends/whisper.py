"""Speech to text with faster-whisper (CTranslate2), by default tiny.en in 8-bit integers.

An utterance of a turn is heard in one short window (:mod:`.whisper_windows`). What is longer,
or does not come to an end there, goes the library's own way, in windows of 30 s.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.transcribe import tqdm

from s2s_actors.backends.base import ModelInfo, Transcript
from s2s_actors.backends.cpu import CORES, MODEL_THREADS, WORKERS
from s2s_actors.backends.foreground import FOREGROUND
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.backends.weights import WHISPER_TINY_EN, existing_path, looks_like_path
from s2s_actors.backends.whisper_windows import (
    LOG_PROBABILITY,
    LONGEST_S,
    NO_SPEECH,
    SMALLEST_PROBABILITY,
    Windows,
    trimmed,
)
from s2s_actors.errors import SetupError, StageError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import BackendOptions, Call, Progress, SttRequest, TokenLogprob

__all__ = ["FasterWhisper"]

_SAMPLE_RATE_HZ = 16_000
_COMPRESSION_RATIO = 2.4  # Whisper's reference code: above it the text goes round in circles
_RETRY_TEMPERATURES = [0.0, 0.4]
# In windows of 30 s noise gave 0.87 to 0.99 with "you" at a good likelihood, speech 0.36 at most.
_SURELY_NO_SPEECH = 0.8
# Of the first 160 ms of 15 interruptions 9 of 10 are above, and what is told of them is never a
# word like "yeah"; a hum is below.
_LIKELY_BEGINNING = -1.6
# Below a tenth of the smallest 16-bit step a clip is digital silence.
_SILENT_PEAK = 3e-6

# An utterance of 3 s takes 74 ms with one thread and 85 ms with two; four at once are done after
# 103 to 247 ms in two calls at a time, and after 84 to 379 ms in calls of two threads one by one.
_TINY_THREADS = 1

# The library makes a progress bar even where none is shown, and a bar starts a thread that
# outlives it.
tqdm.monitor_interval = 0


class FasterWhisper:
    """One Whisper model; as many calls at once as there are cores for, the rest in turn."""

    def __init__(
        self, model: WhisperModel, model_id: str, source: str, workers: int = WORKERS
    ) -> None:
        """Serve a model.

        Args:
            model: Takes ``workers`` calls at once.
            model_id: Its name.
            source: Where it came from.
            workers: How many calls it takes.
        """
        self._model = model
        self._windows = Windows(model)
        self._turnstile = Turnstile(workers)
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
        threads = _TINY_THREADS if model_id == WHISPER_TINY_EN.name else MODEL_THREADS
        workers = max(1, WORKERS // threads)
        model = _open(place, threads, workers, local_files_only=is_path)
        return cls(model, model_id, source, workers)

    def warm_up(self) -> None:
        """Run every window in use once."""
        self._windows.warm_up()

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
        if audio.size > LONGEST_S * _SAMPLE_RATE_HZ:
            return self._transcribe_long(audio, language, request, call)
        with self._turnstile.turn(call.cancel, call.urgency) as go_on:
            if not go_on:
                return Transcript("", language)
            with FOREGROUND.work(call.urgency), CORES.lend():
                heard = self._windows.hear(
                    audio,
                    language,
                    request.prompt,
                    logprobs=request.logprobs,
                    once=request.beginning,
                )
        likely = heard.log_probability > _LIKELY_BEGINNING
        if not (likely if request.beginning else heard.is_speech):
            return Transcript("", heard.language)
        if heard.runs_on and not request.beginning:
            return self._transcribe_long(audio, heard.language, request, call)
        return Transcript(heard.text, heard.language, heard.tokens)

    def _language(self, wanted: str | None) -> str | None:
        if not self._model.model.is_multilingual:
            return "en"
        if wanted is not None and wanted not in self._model.supported_languages:
            text = f"The model does not know {wanted!r}."
            raise StageError("unsupported_language", text, blames_request=True)
        return wanted

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
        windows = itertools.count()
        with self._turnstile.turn(call.cancel, call.urgency) as go_on:
            if not go_on:
                return Transcript("", language)
            segments, info = self._model.transcribe(
                audio,
                language=language,
                beam_size=1,
                temperature=_RETRY_TEMPERATURES,
                no_speech_threshold=NO_SPEECH,
                log_prob_threshold=LOG_PROBABILITY,
                compression_ratio_threshold=_COMPRESSION_RATIO,
                condition_on_previous_text=False,
                initial_prompt=request.prompt,
                word_timestamps=request.logprobs,
            )
        while True:
            with self._turnstile.turn(call.cancel, call.urgency, next(windows)) as go_on:
                segment = next(segments, None) if go_on else None
            if segment is None:
                break
            if segment.no_speech_prob <= _SURELY_NO_SPEECH:
                texts.append(segment.text.strip())
                found = [
                    (word.word, math.log(max(word.probability, SMALLEST_PROBABILITY)))
                    for word in segment.words or ()
                ]
                tokens += trimmed(found, " " if tokens else "")
        return Transcript(" ".join(texts), info.language, tuple(tokens))


def _open(place: str, threads: int, workers: int, *, local_files_only: bool) -> WhisperModel:
    try:
        return WhisperModel(
            place,
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
            num_workers=workers,
            local_files_only=local_files_only,
        )
    # CTranslate2 raises RuntimeError, the hub OSError, a wrong name ValueError.
    except (RuntimeError, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise SetupError(
            f"--stt-model {place}: not a Whisper model that faster-whisper can load ({reason})",
            hint="give a directory with model.bin in it, or a name such as small.en",
        ) from error
