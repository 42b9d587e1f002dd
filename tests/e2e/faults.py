"""Faults that no script plays: parts that break, and models that do not listen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.actors.board import Board
from s2s_actors.backends.base import Call
from s2s_actors.backends.scripted import (
    ScriptedLlm,
    ScriptedStt,
    ScriptedTts,
    ScriptedTurn,
    ScriptedVad,
    _EnergyStream,
)
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from s2s_actors.actors.board import UnitSnapshot
    from s2s_actors.backends.base import SttRequest, Transcript, TtsRequest
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.protocol.outputs import Count
    from tests.support.realtime_client import RealtimeClient

SCREAM_DB = -1.0
"""Level of a tone that breaks :class:`FragileVad`."""


class FragileVad(ScriptedVad):
    """Crashes whenever someone screams."""

    def open_stream(self, session_id: str) -> _FragileStream:
        """A stream that does so."""
        del session_id
        return _FragileStream()


class _FragileStream(_EnergyStream):
    def probability(self, frame: NDArray[np.float32]) -> float:
        if float(np.sqrt(np.mean(np.square(frame)))) > 0.6:
            raise RuntimeError("too loud")
        return super().probability(frame)


class FragileBoard(Board):
    """Breaks whoever publishes to it, when it is told to."""

    def __init__(self, *, break_conversations: int = 0, break_unit_in: str = "") -> None:
        super().__init__()
        self.conversations_to_break = break_conversations
        self.break_unit_in = break_unit_in

    def count(self, count: Count) -> None:
        """Add to the totals, or break the conversation that does so."""
        if self.conversations_to_break:
            self.conversations_to_break -= 1
            raise RuntimeError("can't count")
        super().count(count)

    def publish_unit(self, snapshot: UnitSnapshot) -> None:
        """Publish, or break the first unit that comes into a state."""
        if snapshot.state == self.break_unit_in:
            self.break_unit_in = ""
            raise RuntimeError("can't publish")
        super().publish_unit(snapshot)


class RudeStt(ScriptedStt):
    """Never looks at the cancel token."""

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """Transcribe to the end, wanted or not."""
        return super().transcribe(request, _uncancelled(call))


class RudeLlm(ScriptedLlm):
    """Never looks at the cancel token."""

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Write to the end, wanted or not."""
        return super().generate(request, _uncancelled(call))


class RudeTts(ScriptedTts):
    """Never looks at the cancel token."""

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Speak to the end, wanted or not."""
        return super().synthesize(request, _uncancelled(call))


def _uncancelled(call: Call) -> Call:
    return Call(call.session_id, CancelToken())


class Hang:
    """A call that does not come back, whatever is cancelled, until the test lets it.

    Attributes:
        entered: Set once a call hangs.
    """

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._is_due = False
        self._released = threading.Event()

    def arm(self) -> None:
        """Let the next call hang."""
        self.entered.clear()
        self._is_due = True

    def release(self) -> None:
        """Let what hangs go on, and nothing hang any more."""
        self._is_due = False
        self._released.set()

    def befall(self) -> None:
        """Somebody calls."""
        if self._is_due:
            self._is_due = False
            self.entered.set()
            self._released.wait()


class HangingVad(ScriptedVad):
    """Hears nothing more once it hangs, for nobody who shares its thread."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def open_stream(self, session_id: str) -> _HangingStream:
        """A stream that may hang."""
        del session_id
        return _HangingStream(self._hang)


class _HangingStream(_EnergyStream):
    def __init__(self, hang: Hang) -> None:
        self._hang = hang

    def probability(self, frame: NDArray[np.float32]) -> float:
        self._hang.befall()
        return super().probability(frame)


class HangingStt(ScriptedStt):
    """May hang before it transcribes."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """Transcribe, some day."""
        self._hang.befall()
        return super().transcribe(request, call)


class HangingLlm(ScriptedLlm):
    """May hang before its first word."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Write, some day, and then to the end, wanted or not."""
        self._hang.befall()
        return super().generate(request, _uncancelled(call))


class HangingTts(ScriptedTts):
    """May hang before its first sound."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Speak, some day, and then to the end, wanted or not."""
        self._hang.befall()
        return super().synthesize(request, _uncancelled(call))


class HangingTurn(ScriptedTurn):
    """May hang over how finished a turn sounds."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def completeness(self, audio: NDArray[np.float32]) -> float:
        """Tell, some day."""
        self._hang.befall()
        return super().completeness(audio)


async def second_request(client: RealtimeClient, hang: Hang) -> None:
    """Ask for another response while the first one hangs: that is refused, and spoils nothing."""
    second = await client.create()
    error = await client.error(event_id=second)
    assert error["code"] == "conversation_already_has_active_response"
    hang.release()
    assert (await client.done())["status"] == "completed"
    await client.sync()
    assert client.types.count("response.created") == 1
