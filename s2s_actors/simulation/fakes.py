"""Models of a few lines for actors that are stepped by hand: they name the session they serve.

What they say and the level of their voice tell for whom it was, so that anything that strays
into another session is seen.
"""

from __future__ import annotations

import zlib
from collections import defaultdict, deque
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.base import ModelInfo, Models, Transcript
from s2s_actors.backends.chat import Finished, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from s2s_actors.backends.base import Call, Kind, SttRequest, TtsRequest
    from s2s_actors.backends.chat import LlmEvent, LlmRequest

__all__ = ["Mischief", "fake_models", "level_of"]

TTS_RATE_HZ = 24_000


class Mischief:
    """What the models do besides their work: a queue of surprises for each kind."""

    def __init__(self) -> None:
        self._surprises: dict[str, deque[Callable[[], None]]] = defaultdict(deque)

    def plan(self, kind: Kind, surprise: Callable[[], None]) -> None:
        """Let the next call of a model do that in its middle: raise, or let others go on."""
        self._surprises[kind].append(surprise)

    def forget(self) -> None:
        """Let everything go right from now on."""
        self._surprises.clear()

    def befall(self, kind: Kind) -> None:
        """The middle of a call."""
        if self._surprises[kind]:
            self._surprises[kind].popleft()()


class _Fake:
    """What the fakes share: whatever they say names the session that it is for."""

    kind: Kind

    def __init__(self, mischief: Mischief | None = None) -> None:
        self.mischief = mischief or Mischief()

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(id="fake", kind=self.kind, backend="fake", source="tests")

    def warm_up(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to free."""


class FakeVad(_Fake):
    """Any frame louder than a whisper is speech."""

    kind: Kind = "vad"
    sample_rate_hz = 16_000
    frame_samples = 512

    def open_stream(self, session_id: str) -> FakeVad:
        del session_id
        return self

    def probability(self, frame: NDArray[np.float32]) -> float:
        self.mischief.befall("vad")
        return 1.0 if float(np.abs(frame).max()) > 0.05 else 0.0

    def reset(self) -> None:
        """Nothing was kept."""


class FakeStt(_Fake):
    """Hears the name of the session in every utterance."""

    kind: Kind = "stt"

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        del request
        self.mischief.befall("stt")
        return Transcript(f"{call.session_id} asks")


class FakeLlm(_Fake):
    """Answers with the name of the session, and repeats the last words that it has read."""

    kind: Kind = "llm"

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        yield TextDelta(f"{call.session_id} hears: ")
        self.mischief.befall("llm")
        yield TextDelta(f"{request.messages[-1].text}.")
        yield Finished("stop", 3, 2)


class FakeTts(_Fake):
    """Speaks at the level of the session: every sample of it is the same."""

    kind: Kind = "tts"
    sample_rate_hz = TTS_RATE_HZ

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        del request
        chunk = np.full(TTS_RATE_HZ // 100, level_of(call.session_id), "<i2").tobytes()
        yield chunk
        self.mischief.befall("tts")
        yield chunk


class FakeTurn(_Fake):
    """Takes every pause for the end."""

    kind: Kind = "turn"
    sample_rate_hz = 16_000
    window_samples = 8 * 16_000

    def completeness(self, audio: NDArray[np.float32]) -> float:
        del audio
        self.mischief.befall("turn")
        return 1.0


def level_of(session_id: str) -> int:
    """The level at which a session's voice speaks."""
    return 1000 + 100 * (zlib.crc32(session_id.encode()) % 200)


def fake_models(mischief: Mischief) -> Models:
    """One of each kind."""
    return Models(
        FakeVad(mischief),
        FakeStt(mischief),
        FakeLlm(mischief),
        FakeTts(mischief),
        FakeTurn(mischief),
    )
