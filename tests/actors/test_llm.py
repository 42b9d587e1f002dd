"""Answers are passed on as they are written, and always come to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors.llm import MAX_ANSWER_CHARS, LlmActor
from s2s_actors.actors.messages import Generate, Generated, ResponseFailed, SessionEnd
from s2s_actors.backends.chat import (
    ChatMessage,
    Finished,
    LlmEvent,
    LlmRequest,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from s2s_actors.errors import StageError
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.supervision import Crashed
from tests.actors.stage_harness import StageBench
from tests.support.stepped_plant import FakeLlm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from s2s_actors.backends.base import Call

REQUEST = LlmRequest((ChatMessage("user", "Hi."),))
WORDS: list[LlmEvent] = [TextDelta("One"), TextDelta(" two")]
DONE = Finished("stop", 5, 2)


class Writer(FakeLlm):
    """Writes a list of events; in between it may do something else."""

    def __init__(self, *script: LlmEvent | Callable[[], None]) -> None:
        super().__init__()
        self.script = script
        self.written = 0
        self.closed = False

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        assert request == REQUEST
        assert call.session_id == "sess_bench"
        try:
            for entry in self.script:
                if callable(entry):
                    entry()
                else:
                    self.written += 1
                    yield entry
        finally:
            self.closed = True


class Plain(FakeLlm):
    """Hands over a list: an iterator that can't be closed."""

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        del request, call
        return iter([*WORDS, DONE])


class Rememberer(Plain):
    """Keeps something of each session until it is told to forget it."""

    def __init__(self) -> None:
        super().__init__()
        self.forgets: Callable[[str], None] = _raiser(AssertionError("too early"))

    def forget(self, session_id: str) -> None:
        self.forgets(session_id)


def bench(backend: FakeLlm) -> StageBench:
    return StageBench(lambda links: LlmActor("llm-0", links, backend))


def ask(stage: StageBench, cancel: CancelToken | None = None) -> None:
    stage.put(Generate(stage.lease, "resp_1", REQUEST, cancel or CancelToken()))


def test_all_that_the_model_writes_is_passed_on_in_order() -> None:
    events = [*WORDS, ToolCallStarted("c1", "f"), ToolCallDelta("c1", "{}"), DONE]
    backend = Writer(*events)
    stage = bench(backend)
    ask(stage)
    assert stage.said(Generated) == [Generated(stage.lease, "resp_1", event) for event in events]
    assert backend.closed


def test_a_backend_need_not_be_a_generator() -> None:
    stage = bench(Plain())
    ask(stage)
    assert [message.event for message in stage.said(Generated)] == [*WORDS, DONE]


def test_nothing_comes_after_the_end() -> None:
    backend = Writer(DONE, TextDelta("stray"))
    stage = bench(backend)
    ask(stage)
    assert [message.event for message in stage.said(Generated)] == [DONE]
    assert backend.closed


def test_a_generation_that_just_stops_has_failed() -> None:
    stage = bench(Writer(*WORDS))
    ask(stage)
    failed = stage.conversation.messages[-1]
    assert isinstance(failed, ResponseFailed)
    assert (failed.response_id, failed.error.code) == ("resp_1", "llm_incomplete")


def test_a_model_that_fails_fails_the_response_and_not_the_stage() -> None:
    error = StageError("llm_http_500", "The language model failed.")
    stage = bench(Writer(TextDelta("One"), _raiser(error)))
    ask(stage)
    assert stage.conversation.messages == [
        Generated(stage.lease, "resp_1", TextDelta("One")),
        ResponseFailed(stage.lease, "resp_1", error),
    ]
    ask(stage)
    assert len(stage.conversation.messages) == 4
    assert stage.unit.of(Crashed) == []


def test_a_model_that_crashes_is_the_units_business() -> None:
    backend = Writer(TextDelta("One"), _raiser(RuntimeError("a bug")))
    stage = bench(backend)
    ask(stage)
    assert [type(message) for message in stage.unit.messages] == [Crashed]
    assert len(stage.said(Generated)) == 1
    assert backend.closed


def test_cancelling_takes_effect_within_one_delta() -> None:
    cancel = CancelToken()
    backend = Writer(TextDelta("One"), cancel.cancel, TextDelta(" two"), TextDelta(" three"), DONE)
    stage = bench(backend)
    ask(stage, cancel)
    assert [message.event for message in stage.said(Generated)] == [TextDelta("One")]
    assert backend.written == 2
    assert backend.closed


@pytest.mark.parametrize("fails", [False, True])
def test_a_cancelled_generation_may_end_as_it_likes(fails: bool) -> None:
    cancel = CancelToken()
    fall = [_raiser(StageError("llm_aborted", "Connection closed."))] if fails else []
    stage = bench(Writer(cancel.cancel, *fall))
    ask(stage, cancel)
    assert stage.conversation.messages == []
    assert stage.unit.of(Crashed) == []


def test_the_next_response_is_not_cancelled_with_the_one_before() -> None:
    cancel = CancelToken()
    cancel.cancel()
    stage = bench(Writer(*WORDS, DONE))
    ask(stage, cancel)
    assert stage.conversation.messages == []
    ask(stage)
    assert [message.event for message in stage.said(Generated)] == [*WORDS, DONE]


def test_a_model_forgets_a_session_before_its_end_is_passed_on() -> None:
    backend = Rememberer()
    stage = bench(backend)
    ask(stage)
    forgotten: list[tuple[str, int]] = []
    backend.forgets = lambda session: forgotten.append((session, len(stage.onward.messages)))
    stage.put(SessionEnd(stage.lease))
    assert forgotten == [("sess_bench", 0)]
    assert len(stage.onward.messages) == 1


def test_a_model_that_keeps_nothing_need_not_forget() -> None:
    stage = bench(Plain())
    ask(stage)
    stage.put(SessionEnd(stage.lease))
    assert len(stage.onward.messages) == 1
    assert stage.unit.of(Crashed) == []


def _raiser(error: Exception) -> Callable[..., None]:
    def surprise(*_: object) -> None:
        raise error

    return surprise


@pytest.mark.parametrize("event", [TextDelta("x" * 10_000), ToolCallStarted("call", "look")])
def test_a_model_that_does_not_come_to_an_end_is_stopped(event: LlmEvent) -> None:
    backend = Writer(*[event] * (MAX_ANSWER_CHARS // 10))
    stage = bench(backend)
    stage.put(Generate(stage.lease, "resp_1", REQUEST, stage.scope))
    failed = stage.conversation.messages[-1]
    assert isinstance(failed, ResponseFailed)
    assert failed.error.code == "llm_endless"
    assert backend.closed
    assert len(stage.conversation.of(Generated)) <= MAX_ANSWER_CHARS // 16
