"""Actors report their own death, and outlets never block."""

from __future__ import annotations

import logging
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pykka
import pytest

from s2s_actors.runtime.actor import (
    Actor,
    ActorOutlet,
    abandon_actor,
    join_actors,
    stop_actor,
)
from s2s_actors.runtime.mailbox import Control, Data
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.runtime.supervision import Crashed
from tests.support.stepping import Recorder, begin, is_idle, step

PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Item(Data):
    number: int


@dataclass(frozen=True, slots=True)
class Urgent(Control):
    pass


class Probe(Actor):
    """Keeps what it handles; fails, or waits for a gate, when a test wants it to."""

    limit_messages = 2

    def __init__(
        self,
        supervisor: Recorder | None = None,
        *,
        start_error: Exception | None = None,
        error: BaseException | None = None,
        gate: threading.Event | None = None,
    ) -> None:
        super().__init__("probe", supervisor)
        self.start_error = start_error
        self.error = error
        self.gate = gate
        self.busy = threading.Event()
        self.handled: list[object] = []
        self.thread_name = ""

    def started(self) -> None:
        self.thread_name = threading.current_thread().name
        if self.start_error is not None:
            raise self.start_error

    def handle(self, message: Any) -> None:
        self.busy.set()
        if self.gate is not None:
            self.gate.wait(PATIENCE_S)
        if self.error is not None:
            raise self.error
        self.handled.append(message)


class Signal:
    """An outlet that wakes a test when something comes."""

    def __init__(self) -> None:
        self.messages: list[object] = []
        self.came = threading.Event()

    def put(self, message: object) -> None:
        self.messages.append(message)
        self.came.set()


def start(probe: Probe) -> pykka.ActorRef[Any]:
    """Start an actor that the test holds on to."""
    pykka.ActorRegistry.register(probe.actor_ref)
    probe._start_actor_loop()
    return probe.actor_ref


def crash(**how: Any) -> tuple[Crashed, Probe]:
    """Start an actor that is bound to fail, and wait for the report."""
    supervisor = Signal()
    probe = Probe(supervisor, **how)  # type: ignore[arg-type]
    start(probe)
    probe.outlet.put(Item(1))
    assert supervisor.came.wait(PATIENCE_S)
    (report,) = supervisor.messages
    assert isinstance(report, Crashed)
    return report, probe


def test_an_exception_reaches_the_supervisor_when_the_actor_is_already_gone() -> None:
    error = ValueError("broken")
    report, probe = crash(error=error)
    assert report == Crashed("probe", probe.actor_urn, error)
    assert not probe.actor_ref.is_alive()
    assert pykka.ActorRegistry.get_all() == []


def test_a_failure_at_the_start_is_reported_and_the_actor_is_gone() -> None:
    error = ValueError("no model")
    report, probe = crash(start_error=error)
    assert report.error is error
    assert probe.handled == []
    assert pykka.ActorRegistry.get_all() == []


def test_a_library_that_calls_exit_takes_down_one_actor_and_not_all() -> None:
    bystander = Probe.start()
    report, _ = crash(error=SystemExit(1))
    assert isinstance(report.error, SystemExit)
    assert bystander.is_alive()
    stop_actor(bystander)


def test_a_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        crash(error=ValueError("broken"))
    assert [record.getMessage() for record in caplog.records] == ["probe failed"]


def test_an_actor_without_a_supervisor_just_stops() -> None:
    probe = Probe(error=ValueError("broken"))
    probe.actor_ref.tell(Item(1))
    step(probe)
    assert not probe.actor_ref.is_alive()
    assert is_idle(probe)


def test_the_thread_is_a_daemon_with_the_name_of_the_actor() -> None:
    probe = Probe()
    ref = start(probe)
    probe.outlet.put(Urgent())
    assert probe.busy.wait(PATIENCE_S)
    assert probe.thread_name == "probe"
    assert all(t.daemon for t in threading.enumerate() if t.name == "probe")
    stop_actor(ref)


def test_a_message_to_a_stopped_actor_is_dropped_and_counted() -> None:
    probe = Probe()
    probe.actor_stopped.set()
    probe.outlet.put(Item(1))
    probe.outlet.put(Urgent())
    assert probe.outlet.dropped == 2
    assert probe.actor_inbox.empty()


def test_a_full_lane_refuses_data_and_takes_control() -> None:
    probe = Probe()
    outlet = ActorOutlet(probe.actor_ref)
    outlet.put(Item(1))
    outlet.put(Item(2))
    with pytest.raises(LaneFullError):
        outlet.put(Item(3))
    outlet.put(Urgent())
    for _ in range(3):
        step(probe)
    assert probe.handled == [Urgent(), Item(1), Item(2)]


def test_stop_overtakes_waiting_data() -> None:
    gate = threading.Event()
    probe = Probe(gate=gate)
    start(probe)
    probe.outlet.put(Item(1))
    assert probe.busy.wait(PATIENCE_S)
    probe.outlet.put(Item(2))
    probe.outlet.stop()
    gate.set()
    assert probe.actor_stopped.wait(PATIENCE_S)
    assert probe.handled == [Item(1)]


def test_an_abandoned_actor_is_gone_at_once_and_its_thread_ends_when_it_can() -> None:
    gate = threading.Event()
    supervisor = Recorder()
    probe = Probe(supervisor, gate=gate, error=ValueError("late"))
    ref = start(probe)
    probe.outlet.put(Item(1))
    assert probe.busy.wait(PATIENCE_S)
    probe.outlet.put(Item(2))

    abandon_actor(ref)
    abandon_actor(ref)
    assert pykka.ActorRegistry.get_all() == []
    probe.outlet.put(Item(3))
    assert probe.outlet.dropped == 1

    (thread,) = [thread for thread in threading.enumerate() if thread.name == "probe"]
    gate.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert supervisor.messages == []


def test_an_abandoned_actor_that_waits_for_work_ends() -> None:
    probe = Probe()
    start(probe)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "probe"]
    probe.outlet.abandon()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_an_actor_that_gets_no_thread_is_not_left_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start"):
        Probe.start()
    assert pykka.ActorRegistry.get_all() == []


def test_an_orderly_stop_cleans_up_and_a_failing_clean_up_is_only_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Untidy(Probe):
        def stopped(self) -> None:
            raise ValueError("lost the broom")

    supervisor = Recorder()
    probe = Untidy(supervisor)
    start(probe)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "probe"]
    probe.outlet.stop()
    thread.join(PATIENCE_S)
    assert supervisor.messages == []
    assert "failed to clean up" in caplog.text


def test_a_stepped_actor_reports_a_failed_start_like_a_running_one() -> None:
    supervisor = Recorder()
    begin(Probe(supervisor, start_error=ValueError("no model")))
    assert len(supervisor.of(Crashed)) == 1


def test_memory_of_an_actor_is_freed_after_it_has_stopped() -> None:
    probe = Probe()
    start(probe)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "probe"]
    probe.outlet.stop()
    thread.join(PATIENCE_S)
    del thread
    assert sys.getrefcount(probe) == 2


def test_joining_waits_for_stopped_actors_and_names_those_that_are_busy() -> None:
    gate = threading.Event()
    busy, idle = Probe(gate=gate), Probe()
    start(busy)
    start(idle)
    busy.outlet.put(Item(1))
    assert busy.busy.wait(PATIENCE_S)
    idle.outlet.stop()
    busy.outlet.abandon()
    assert join_actors(0.05) == ["probe"]
    gate.set()
    assert join_actors(PATIENCE_S) == []


def test_an_actor_lets_go_after_a_crash_and_the_supervisor_hears_of_it_in_any_case() -> None:
    class Holding(Probe):
        let_go = False

        def crashed(self) -> None:
            self.let_go = True
            raise ValueError("it slipped")

    supervisor = Recorder()
    probe = Holding(supervisor, error=ValueError("bug"))
    begin(probe)
    probe.outlet.put(Item(1))
    step(probe)
    assert probe.let_go
    assert len(supervisor.of(Crashed)) == 1
