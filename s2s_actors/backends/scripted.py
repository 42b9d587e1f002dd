"""Backends without models, for tests and load: they play a script.

See :mod:`s2s_actors.backends.script` for what a script can say. Every wait ends at once when
the call is cancelled, except in a ``wedge_s`` fault, which is there to ignore that.
"""

from __future__ import annotations

import math
import re
import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.base import ModelInfo, TokenLogprob, Transcript
from s2s_actors.backends.script import Script, SttScript, TtsScript, in_band
from s2s_actors.backends.scripted_base import REAL_WAITS, Scripted, Waits, befall
from s2s_actors.backends.scripted_llm import ScriptedLlm
from s2s_actors.backends.scripted_turn import ScriptedTurn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from s2s_actors.backends.base import Call, Kind, SttRequest, TtsRequest

__all__ = [
    "ScriptedLlm",
    "ScriptedStt",
    "ScriptedTts",
    "ScriptedTurn",
    "ScriptedVad",
    "tone_hz",
]

_VOICE = re.compile(r"tone-(\d+(?:\.\d+)?)")
_LOWEST_TONE_HZ, _TONE_STEP_HZ, _TONES = 300, 12, 251
_TONE_AMPLITUDE = 0.3
# Speech lies well above this level and room noise well below (full scale is 1).
_EVEN_ODDS_RMS = 0.01
# What a resampler makes of the last 40 ms of a sound depends on whether it goes on (80 ms here).
_EDGE_BYTES = 2560
# More sessions at once than a process ever serves; older ones start to count anew.
_SESSIONS_REMEMBERED = 4096


def tone_hz(session_id: str) -> float:
    """Pitch of a session's voice: 300 to 3300 Hz in steps of 12, the same in every process."""
    return float(_LOWEST_TONE_HZ + _TONE_STEP_HZ * (zlib.crc32(session_id.encode()) % _TONES))


class _EnergyStream:
    def probability(self, frame: NDArray[np.float32]) -> float:
        wide = frame.astype(np.float64)
        rms = math.sqrt(float(wide @ wide) / wide.size) if wide.size else 0.0
        return rms / (rms + _EVEN_ODDS_RMS)

    def reset(self) -> None:
        """Nothing was kept."""


class ScriptedVad(Scripted):
    """Takes any loud frame for speech: the probability is ``rms / (rms + 0.01)``."""

    kind: Kind = "vad"
    sample_rate_hz = 16_000
    frame_samples = 512

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        return ModelInfo(id="energy", kind="vad", backend="scripted", source="built-in")

    def open_stream(self, session_id: str) -> _EnergyStream:
        """A stream; it keeps no state."""
        del session_id
        return _EnergyStream()


@dataclass(slots=True)
class _Heard:
    """The last utterance of a session: its number, length and a checksum of it."""

    number: int
    size_bytes: int
    checksum: int


class ScriptedStt(Scripted):
    """Hears what the script says.

    Utterances are counted by session. One that begins with all of the one before and goes
    on is the same utterance heard further, as when speech continues after a short pause. The
    first moment of one that is still being said belongs to the utterance that comes next.
    """

    kind: Kind = "stt"

    def __init__(
        self, script: Script | None = None, source: str | None = None, waits: Waits = REAL_WAITS
    ) -> None:
        super().__init__(script, source, waits)
        self._heard: OrderedDict[str, _Heard] = OrderedDict()
        self._lock = threading.Lock()

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """The script's next text, after its delay."""
        script = in_band(request.prompt, SttScript) or self._script.stt
        number = self._number(call.session_id, request)
        answer = script.answer(number)
        befall(answer, call.cancel, self._waits)
        if self._waits.pause(call.cancel, answer.delay_ms):
            return Transcript("")
        text = answer.text.replace("{n}", str(number))
        tokens = _tokens(text) if request.logprobs else ()
        return Transcript(text, request.language or "en", tokens)

    def _number(self, session_id: str, request: SttRequest) -> int:
        if not request.beginning:
            return self._count(session_id, request.pcm)
        with self._lock:
            last = self._heard.get(session_id)
        return 1 if last is None else last.number + 1

    def _count(self, session_id: str, pcm: bytes) -> int:
        with self._lock:
            last = self._heard.pop(session_id, None)
            number = 1
            if last is not None:
                begins_alike = zlib.crc32(pcm[: last.size_bytes]) == last.checksum
                goes_on = len(pcm) > last.size_bytes + _EDGE_BYTES and begins_alike
                number = last.number if goes_on else last.number + 1
            inner = pcm[: max(0, len(pcm) - _EDGE_BYTES)]
            self._heard[session_id] = _Heard(number, len(inner), zlib.crc32(inner))
            while len(self._heard) > _SESSIONS_REMEMBERED:
                self._heard.popitem(last=False)
        return number


def _tokens(text: str) -> tuple[TokenLogprob, ...]:
    """Words with made-up probabilities that depend on nothing but the word."""
    words: list[str] = re.findall(r"\s*\S+", text.strip())
    return tuple(TokenLogprob(word, -(1 + zlib.crc32(word.encode()) % 100) / 100) for word in words)


class ScriptedTts(Scripted):
    """Speaks in tones: one pitch a session, so that a stray piece of audio shows whose it is."""

    kind: Kind = "tts"
    sample_rate_hz = 24_000

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Yield a tone as long as the text asks for, in pieces of ``chunk_ms``."""
        script: TtsScript = self._script.tts
        fault = script.fault(request.text)
        voice = _VOICE.fullmatch(request.voice or "")
        pitch_hz = float(voice[1]) if voice else tone_hz(call.session_id)
        length_ms = len(request.text) * script.ms_per_char / request.speed
        samples = round(length_ms * self.sample_rate_hz / 1000)
        chunk_samples = script.chunk_ms * self.sample_rate_hz // 1000
        starts = range(0, samples, chunk_samples)
        for index, start in enumerate(starts):
            if index == fault.after:
                befall(fault, call.cancel, self._waits)
            delay_ms = script.chunk_delay_ms if index else script.first_chunk_ms
            if self._waits.pause(call.cancel, delay_ms):
                return
            yield self._tone(pitch_hz, start, min(samples, start + chunk_samples))
        if fault.after >= len(starts):
            befall(fault, call.cancel, self._waits)

    def _tone(self, pitch_hz: float, start: int, stop: int) -> bytes:
        phase = 2 * np.pi * pitch_hz / self.sample_rate_hz * np.arange(start, stop)
        pcm: bytes = (np.sin(phase) * _TONE_AMPLITUDE * 32767).astype("<i2").tobytes()
        return pcm
