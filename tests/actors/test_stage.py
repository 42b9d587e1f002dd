"""What every stage promises: one lease at a time, and SESSION_END comes out last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.actors import messages as m
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.llm import LlmActor
from s2s_actors.actors.load import Load
from s2s_actors.actors.messages import Bind, SessionEnd, StagePassed
from s2s_actors.actors.stage import Links, ModelStage, StageActor
from s2s_actors.actors.stt import SttActor
from s2s_actors.actors.tts import TtsActor
from s2s_actors.backends.base import Call, TtsRequest
from s2s_actors.backends.chat import ChatMessage, LlmRequest
from s2s_actors.errors import StageError
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.mailbox import Data
from s2s_actors.runtime.supervision import Crashed
from s2s_actors.runtime.urgency import Urgency
from tests.actors.stage_harness import StageBench
from tests.support.stepped_plant import FakeLlm, FakeStt, FakeTts, Mischief
from tests.support.stepping import Recorder, run_until_idle, step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Work(Data):
    lease: Lease
    number: int
    cancel: CancelToken
    urgency: Urgency = field(default_factory=Urgency)


class PassOn(StageActor):
    """Hands its work to the next stage, and keeps a diary."""

    stage = "llm"

    def __init__(self, name: str, links: Links) -> None:
        super().__init__(name, links)
        self.diary: list[str] = []

    def open_session(self, bind: Bind) -> None:
        self.diary.append(f"open {bind.lease.session_id}")

    def work(self, message: Work) -> None:
        self.diary.append(f"work {message.number}")
        self.links.onward.put(message)

    def reset(self) -> None:
        self.diary.append("reset")


class Model(ModelStage):
    """Says what it was asked to do."""

    stage = "stt"

    def run_model(self, message: Any) -> None:
        self.links.conversation.put(message)


def links(unit: Recorder, onward: Recorder | None = None) -> Links:
    return Links(unit=unit, conversation=unit, onward=onward or unit)


def bind(session_id: str = "a") -> Bind:
    return Bind(Lease.issue(0, session_id), CancelToken())


def work(lease: Lease, number: int = 1) -> Work:
    return Work(lease, number, CancelToken())


@given(choices=st.lists(st.integers(0, 2), max_size=60), count=st.integers(0, 5))
def test_session_end_comes_out_last_whatever_the_schedule(choices: list[int], count: int) -> None:
    unit = Recorder()
    tts = PassOn("tts", links(unit))
    llm = PassOn("llm", Links(unit, unit, tts.outlet))
    stt = PassOn("stt", Links(unit, unit, llm.outlet))
    stages = [stt, llm, tts]
    bound = bind()
    for stage in stages:
        stage.outlet.put(bound)
    jobs = [work(bound.lease, number) for number in range(count)]
    end = SessionEnd(bound.lease)
    for message in [*jobs, end]:
        stt.outlet.put(message)

    for choice in choices:
        if not stages[choice].actor_inbox.empty():
            step(stages[choice])
    run_until_idle(*stages)

    assert [message for message in unit.messages if not isinstance(message, StagePassed)] == [
        *jobs,
        end,
    ]
    assert all(stage.diary[-1] == "reset" for stage in stages)


def test_a_stage_resets_tells_the_unit_and_then_passes_the_marker_on() -> None:
    unit = Recorder()
    stage = PassOn("llm-0", links(unit))
    bound = bind()
    for message in (bound, work(bound.lease), SessionEnd(bound.lease)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert stage.diary == ["open a", "work 1", "reset"]
    assert unit.messages[-2:] == [StagePassed(bound.lease, "llm"), SessionEnd(bound.lease)]


def test_work_of_another_lease_is_dropped_and_counted() -> None:
    stage = PassOn("llm-0", links(Recorder()))
    stage.outlet.put(bind("a"))
    stage.outlet.put(work(Lease.issue(0, "b")))
    # The same session on the same unit, but another claim.
    stage.outlet.put(work(Lease.issue(0, "a")))
    run_until_idle(stage)
    assert stage.diary == ["open a"]
    assert stage.dropped == 2


def test_before_it_is_bound_a_stage_works_for_nobody() -> None:
    stage = PassOn("llm-0", links(Recorder()))
    stage.outlet.put(work(Lease.issue(0, "a")))
    run_until_idle(stage)
    assert (stage.diary, stage.dropped) == ([], 1)


def test_after_session_end_late_work_is_dropped_and_the_next_session_starts_from_nothing() -> None:
    stage = PassOn("llm-0", links(Recorder()))
    first, second = bind("a"), bind("b")
    late = work(first.lease, 1)
    for message in (first, SessionEnd(first.lease), late, second, late, work(second.lease, 2)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert stage.diary == ["open a", "reset", "open b", "work 2"]
    assert stage.dropped == 2


def test_a_replacement_that_comes_in_the_middle_of_a_drain_passes_the_marker_on() -> None:
    unit = Recorder()
    stage = PassOn("llm-0", links(unit))
    lease = Lease.issue(0, "a")
    stage.outlet.put(SessionEnd(lease))
    run_until_idle(stage)
    assert unit.messages == [StagePassed(lease, "llm"), SessionEnd(lease)]
    assert stage.diary == []


def test_a_late_marker_of_an_earlier_session_passes_and_resets_nothing() -> None:
    unit = Recorder()
    stage = PassOn("llm-0", links(unit))
    earlier, bound = Lease.issue(0, "a"), bind("b")
    for message in (bound, SessionEnd(earlier), work(bound.lease)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert SessionEnd(earlier) in unit.messages
    assert stage.diary == ["open b", "work 1"]


def test_a_second_marker_passes_as_well() -> None:
    unit = Recorder()
    stage = PassOn("llm-0", links(unit))
    bound = bind()
    for message in (bound, SessionEnd(bound.lease), SessionEnd(bound.lease)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert unit.of(SessionEnd) == [SessionEnd(bound.lease)] * 2
    assert stage.diary == ["open a", "reset"]


def test_two_sessions_at_once_are_a_fault_that_the_unit_hears_of() -> None:
    unit = Recorder()
    stage = PassOn("llm-0", links(unit))
    stage.outlet.put(bind("a"))
    stage.outlet.put(bind("b"))
    run_until_idle(stage)
    assert [report.name for report in unit.of(Crashed)] == ["llm-0"]
    assert stage.diary == ["open a"]


def test_work_that_was_cancelled_while_it_waited_is_not_begun() -> None:
    unit = Recorder()
    stage = Model("stt-0", links(unit))
    bound = bind()
    cancelled, wanted = work(bound.lease, 1), work(bound.lease, 2)
    for message in (bound, cancelled, wanted):
        stage.outlet.put(message)
    cancelled.cancel.cancel()
    run_until_idle(stage)
    assert unit.of(Work) == [wanted]


def test_a_model_stage_takes_one_piece_of_work_after_the_other() -> None:
    unit = Recorder()
    stage = Model("stt-0", links(unit))
    bound = bind()
    jobs = [work(bound.lease, number) for number in range(3)]
    for message in (bound, *jobs, SessionEnd(bound.lease)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert unit.of(Work) == jobs
    assert unit.of(SessionEnd) == [SessionEnd(bound.lease)]


# --- whether its backend works -----------------------------------------------------------------


class Doing(ModelStage):
    """Works, or fails, or is cancelled in the middle."""

    stage = "stt"

    def __init__(self, name: str, links: Links, do: Callable[[CancelToken], None]) -> None:
        super().__init__(name, links)
        self.do = do

    def run_model(self, message: Any) -> None:
        self.do(message.cancel)

    def failure(self, message: Any, error: StageError) -> Any:
        return message.number, error.code


def _fail(_: CancelToken) -> None:
    raise StageError("planned", "It failed.")


def _refuse(_: CancelToken) -> None:
    raise StageError("planned", "Nobody could do that.", blames_request=True)


def _fail_when_cancelled(cancel: CancelToken) -> None:
    cancel.cancel()
    raise StageError("planned", "It was cut off.")


@pytest.mark.parametrize(
    ("do", "told"),
    [
        (lambda _: None, [m.StageWorked]),
        (_fail, [m.StageFailed]),
        (_refuse, [m.StageFailed]),
        (CancelToken.cancel, []),
        (_fail_when_cancelled, []),
    ],
)
def test_the_unit_hears_of_each_piece_of_work_that_shows_whether_the_backend_works(
    do: Callable[[CancelToken], None], told: list[type]
) -> None:
    unit = Recorder()
    stage = Doing("stt-0", Links(unit, Recorder(), Recorder()), do)
    bound = bind()
    for message in (bound, work(bound.lease), work(bound.lease)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert [type(message) for message in unit.messages] == told * 2
    assert {(worked.lease, worked.stage) for worked in unit.of(m.StageWorked)} <= {
        (bound.lease, "stt")
    }
    assert {(failed.lease, failed.stage, failed.reason) for failed in unit.of(m.StageFailed)} <= {
        (bound.lease, "stt", "planned")
    }
    assert {failed.blames_request for failed in unit.of(m.StageFailed)} <= {do is _refuse}


# --- how busy the machine is -------------------------------------------------------------------


class Observed(ModelStage):
    """Looks at the load while it works, and may fail."""

    stage = "stt"

    def __init__(
        self, name: str, links: Links, load: Load, error: StageError | None = None
    ) -> None:
        super().__init__(name, links, load)
        self.watched, self.error = load, error
        self.seen: list[bool] = []

    def run_model(self, message: Any) -> None:
        del message
        self.seen.append(self.watched.may_guess)
        if self.error is not None:
            raise self.error

    def failure(self, message: Any, error: StageError) -> Any:
        return message.number, error.code


@pytest.mark.parametrize(("speculative", "time_for_more"), [(False, False), (True, True)])
def test_work_is_counted_while_it_runs_as_what_it_is(
    speculative: bool, time_for_more: bool
) -> None:
    load = Load(1)  # takes two guesses, or one piece of work that is wanted
    stage = Observed("stt-0", links(Recorder()), load)
    bound = bind()
    urgency = Urgency(speculative=speculative)
    for message in (bound, Work(bound.lease, 1, CancelToken(), urgency)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert stage.seen == [time_for_more]
    assert load.may_guess


def test_work_that_fails_is_counted_no_longer() -> None:
    load, unit = Load(1), Recorder()
    stage = Observed("stt-0", links(unit), load, StageError("planned", "It failed."))
    bound = bind()
    for message in (bound, work(bound.lease, 1), work(bound.lease, 2)):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert unit.of(tuple) == [(1, "planned"), (2, "planned")]
    assert stage.seen == [False, False]
    assert load.may_guess


def test_work_that_nobody_wants_is_not_counted() -> None:
    load = Load(1)
    stage = Observed("stt-0", links(Recorder()), load)
    bound = bind()
    unwanted = work(bound.lease)
    unwanted.cancel.cancel()
    for message in (bound, unwanted):
        stage.outlet.put(message)
    run_until_idle(stage)
    assert stage.seen == []
    assert load.may_guess


def _transcribe(bench: StageBench) -> object:
    return m.Transcribe(bench.lease, "voice", bytes(4800), None, None, bench.scope)


def _generate(bench: StageBench) -> object:
    request = LlmRequest((ChatMessage("user", "Hi."),))
    return m.Generate(bench.lease, "resp", request, bench.scope)


def _speak(bench: StageBench) -> object:
    return m.Speak(bench.lease, "resp", 0, TtsRequest("Hi."), bench.scope)


STAGES: dict[str, tuple[type, Callable[..., StageActor], Callable[[StageBench], object]]] = {
    "stt": (FakeStt, SttActor, _transcribe),
    "llm": (FakeLlm, LlmActor, _generate),
    "tts": (FakeTts, TtsActor, _speak),
}


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("kind", sorted(STAGES))
def test_only_what_runs_on_this_machine_is_counted(kind: str, here: bool) -> None:
    fake, actor, message = STAGES[kind]
    load, mischief, seen = Load(1), Mischief(), list[bool]()
    backend = fake(mischief)
    backend.runs_here = here
    mischief.plan(backend.kind, lambda: seen.append(not load.queues()))
    bench = StageBench(lambda links: actor(f"{kind}-0", links, backend, load))
    bench.put(message(bench))
    assert seen == [not here]
    assert load.queues() == {}
    assert bench.unit.of(Crashed) == []


@pytest.mark.parametrize(("kind", "late"), [("stt", True), ("llm", False), ("tts", False)])
def test_work_waits_until_there_is_something_of_its_result(kind: str, late: bool) -> None:
    fake, actor, message = STAGES[kind]
    ticks = iter(range(100))
    load, mischief, seen = Load(1, lambda: next(ticks)), Mischief(), list[bool]()
    # Of what comes in several parts, the fakes go wrong between the first and the second.
    mischief.plan(fake(mischief).kind, lambda: seen.append(load.queues()[kind].longest_wait_s > 0))
    bench = StageBench(lambda links: actor(f"{kind}-0", links, fake(mischief), load))
    bench.put(message(bench))
    assert seen == [late]


class Listening(FakeTts):
    """Notes what it is called with."""

    def __init__(self, mischief: Mischief) -> None:
        super().__init__(mischief)
        self.pieces: list[int] = []

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        self.pieces.append(call.piece)
        return super().synthesize(request, call)


def test_the_voice_is_told_how_much_of_the_answer_was_asked_for_before() -> None:
    voice = Listening(Mischief())
    bench = StageBench(lambda links: TtsActor("tts-0", links, voice))
    for segment in range(3):
        bench.put(m.Speak(bench.lease, "resp", segment, TtsRequest("Hi."), bench.scope))
    assert voice.pieces == [0, 1, 2]
