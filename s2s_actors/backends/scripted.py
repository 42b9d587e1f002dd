"""Backends without models, for tests and load: they play a script.

See :mod:`s2s_actors.backends.script` for what a script can say. Every wait ends at once when
the call is cancelled, except in a ``wedge_s`` fault, which is there to ignore that.
"""

from __future__ import annotations

import itertools
import re
import threading
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.base import (
    Finished,
    ModelInfo,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    Transcript,
)
from s2s_actors.backends.script import (
    Fault,
    LlmAnswer,
    LlmScript,
    Script,
    SttScript,
    TtsScript,
    in_band,
    read_script,
)
from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import (
        BackendOptions,
        Call,
        ChatMessage,
        Kind,
        LlmEvent,
        LlmRequest,
        Progress,
        SttRequest,
        TtsRequest,
    )
    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["ScriptedLlm", "ScriptedStt", "ScriptedTts", "ScriptedVad", "tone_hz"]

_WORD = re.compile(r"\s*\S+|\s+$")
_VOICE = re.compile(r"tone-(\d+(?:\.\d+)?)")
_ARGUMENTS_CHUNK_CHARS = 8
_LOWEST_TONE_HZ, _TONE_STEP_HZ, _TONES = 300, 12, 251
_TONE_AMPLITUDE = 0.3
# Speech lies well above this level and room noise well below (full scale is 1).
_EVEN_ODDS_RMS = 0.01
# More sessions at once than a process ever serves; older ones start to count anew.
_SESSIONS_REMEMBERED = 4096


def tone_hz(session_id: str) -> float:
    """Pitch of a session's voice: 300 to 3300 Hz in steps of 12, the same in every process."""
    return float(_LOWEST_TONE_HZ + _TONE_STEP_HZ * (zlib.crc32(session_id.encode()) % _TONES))


def _pause(cancel: CancelToken, duration_ms: float | None) -> bool:
    """Wait, None for ever; return whether the work was cancelled."""
    if duration_ms == 0:
        return cancel.cancelled
    cancelled = threading.Event()
    forget = cancel.on_cancel(cancelled.set)
    try:
        return cancelled.wait(None if duration_ms is None else duration_ms / 1000)
    finally:
        forget()


def _befall(fault: Fault, cancel: CancelToken) -> None:
    if fault.wedge_s:
        time.sleep(fault.wedge_s)
    if fault.stall:
        _pause(cancel, None)
    if cancel.cancelled:
        return
    if fault.error:
        raise StageError(fault.error, fault.message)
    if fault.crash:
        raise RuntimeError(fault.crash)


class _Scripted:
    """What the four have in common: they come from a script and hold nothing."""

    kind: Kind

    def __init__(self, script: Script | None = None, source: str | None = None) -> None:
        self._script = script or Script()
        self._source = source or "built-in script"

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Read the script.

        Raises:
            SetupError: The file can't be read, or is not a script.
        """
        del progress
        return cls(read_script(options.script), options.script)

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        return ModelInfo(id="scripted", kind=self.kind, backend="scripted", source=self._source)

    def warm_up(self) -> None:
        """Nothing to warm up."""

    def close(self) -> None:
        """Nothing to free."""


class _EnergyStream:
    def probability(self, frame: NDArray[np.float32]) -> float:
        rms = float(np.sqrt(np.mean(np.square(frame, dtype=np.float64)))) if frame.size else 0.0
        return rms / (rms + _EVEN_ODDS_RMS)

    def reset(self) -> None:
        """Nothing was kept."""


class ScriptedVad(_Scripted):
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


class ScriptedStt(_Scripted):
    """Hears what the script says.

    Utterances are counted by session. One that begins with all of the one before and goes
    on is the same utterance heard further, as when speech continues after a short pause.
    """

    kind: Kind = "stt"

    def __init__(self, script: Script | None = None, source: str | None = None) -> None:
        super().__init__(script, source)
        self._heard: OrderedDict[str, _Heard] = OrderedDict()
        self._lock = threading.Lock()

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """The script's next text, after its delay."""
        script = in_band(request.prompt, SttScript) or self._script.stt
        number = self._count(call.session_id, request.pcm)
        answer = script.answer(number)
        _befall(answer, call.cancel)
        if _pause(call.cancel, answer.delay_ms):
            return Transcript("")
        return Transcript(answer.text.replace("{n}", str(number)), request.language or "en")

    def _count(self, session_id: str, pcm: bytes) -> int:
        with self._lock:
            last = self._heard.pop(session_id, None)
            number = 1
            if last is not None:
                begins_alike = zlib.crc32(pcm[: last.size_bytes]) == last.checksum
                goes_on = len(pcm) > last.size_bytes and begins_alike
                number = last.number if goes_on else last.number + 1
            self._heard[session_id] = _Heard(number, len(pcm), zlib.crc32(pcm))
            while len(self._heard) > _SESSIONS_REMEMBERED:
                self._heard.popitem(last=False)
        return number


class ScriptedLlm(_Scripted):
    """Writes what the script says, a word at a time; a word counts as a token.

    It keeps nothing between calls: the turn's number is read off the chat. A user message
    opens a turn, and so do the outputs of tools.
    """

    kind: Kind = "llm"

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Stream the scripted answer; ``length`` where it is cut by the token limit."""
        script = _session_script(request.messages) or self._script.llm
        turns = _turns(request.messages)
        answer = script.answer(turns)
        text = _fill(answer.text, request.messages, turns)
        words: list[str] = _WORD.findall(text)
        limit = request.max_output_tokens
        kept = words if limit is None else words[:limit]
        input_tokens = sum(len(message.text.split()) for message in request.messages)
        for event in itertools.chain(_speak(answer, kept, call.cancel), _call_tools(answer)):
            if call.cancel.cancelled:
                return
            yield event
        if not call.cancel.cancelled:
            output_tokens = len(kept) + len(answer.tool_calls)
            cut = len(kept) < len(words)
            yield Finished("length" if cut else "stop", input_tokens, output_tokens)


def _speak(answer: LlmAnswer, words: list[str], cancel: CancelToken) -> Iterator[LlmEvent]:
    for index, word in enumerate(words):
        if index == answer.after:
            _befall(answer, cancel)
        if _pause(cancel, answer.token_ms if index else answer.first_token_ms):
            return
        yield TextDelta(word)
    if answer.after >= len(words):
        _befall(answer, cancel)


def _call_tools(answer: LlmAnswer) -> Iterator[LlmEvent]:
    for call in answer.tool_calls:
        call_id = f"call_{next(_CALL_NUMBERS)}"
        yield ToolCallStarted(call_id, call.name)
        arguments = call.arguments_json
        for start in range(0, len(arguments), _ARGUMENTS_CHUNK_CHARS):
            yield ToolCallDelta(call_id, arguments[start : start + _ARGUMENTS_CHUNK_CHARS])


_CALL_NUMBERS = itertools.count(1)


def _session_script(messages: tuple[ChatMessage, ...]) -> LlmScript | None:
    systems = [message.text for message in messages if message.role == "system"]
    return in_band(systems[-1], LlmScript) if systems else None


def _turns(messages: tuple[ChatMessage, ...]) -> list[str]:
    """The user text that governs each turn, oldest first."""
    turns: list[str] = []
    user, previous_role = "", ""
    for message in messages:
        if message.role == "user":
            user = message.text
        if message.role == "user" or (message.role == "tool" and previous_role != "tool"):
            turns.append(user)
        previous_role = message.role
    return turns


def _fill(text: str, messages: tuple[ChatMessage, ...], turns: list[str]) -> str:
    tools = [message.text for message in messages if message.role == "tool"]
    values = {
        "n": str(len(turns)),
        "user": turns[-1] if turns else "",
        "tool": tools[-1] if tools else "",
    }
    return re.sub(r"\{(n|user|tool)\}", lambda match: values[match[1]], text)


class ScriptedTts(_Scripted):
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
                _befall(fault, call.cancel)
            if _pause(call.cancel, script.chunk_delay_ms if index else script.first_chunk_ms):
                return
            yield self._tone(pitch_hz, start, min(samples, start + chunk_samples))
        if fault.after >= len(starts):
            _befall(fault, call.cancel)

    def _tone(self, pitch_hz: float, start: int, stop: int) -> bytes:
        phase = 2 * np.pi * pitch_hz / self.sample_rate_hz * np.arange(start, stop)
        pcm: bytes = (np.sin(phase) * _TONE_AMPLITUDE * 32767).astype("<i2").tobytes()
        return pcm
