"""Actors that share a thread: in order, one at a time, and none of them can hold up the others."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.runtime.actor import Actor, ActorOutlet, join_actors, start_actor_thread
from s2s_actors.runtime.dispatcher import Dispatcher, StuckError
from s2s_actors.runtime.mailbox import Control, Data, Pressing
from s2s_actors.runtime.supervision import Crashed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Item(Data):
    number: int


@dataclass(frozen=True, slots=True)
class Gate(Data):
    """Holds up whoever handles it."""

    reached: threading.Event
    opened: threading.Event


@dataclass(frozen=True, slots=True)
class PressingGate(Pressing):
    """Does so too, ahead of others."""

    reached: threading.Event
    opened: threading.Event


@dataclass(frozen=True, slots=True)
class Farewell(Pressing):
    pass


@dataclass(frozen=True, slots=True)
class Bomb(Control):
    pass


class Reports:
    """A supervisor that can be waited for."""

    def __init__(self) -> None:
        self.messages: list[object] = []
        self._came = threading.Condition()

    def put(self, message: object) -> None:
        with self._came:
            self.messages.append(message)
            self._came.notify_all()

    def wait_for(self, count: int) -> list[object]:
        with self._came:
            assert self._came.wait_for(lambda: len(self.messages) >= count, PATIENCE_S)
            return list(self.messages)


class Worker(Actor):
    """Writes down what it handles, and on which thread."""

    def __init__(self, name: str, dispatcher: Dispatcher, diary: Reports, boss: Reports) -> None:
        super().__init__(name, boss, dispatcher)
        self.diary = diary
        self.rounds: Rounds | None = None

    def started(self) -> None:
        self.diary.put((self.name, "begins", threading.current_thread().name))

    def stopped(self) -> None:
        self.diary.put((self.name, "ends", threading.current_thread().name))

    def handle(self, message: Any) -> None:
        match message:
            case (
                Gate(reached=reached, opened=opened) | PressingGate(reached=reached, opened=opened)
            ):
                reached.set()
                assert opened.wait(PATIENCE_S)
            case Bomb():
                raise RuntimeError("a bug")
            case Item() if self.rounds is not None:
                self.rounds.due.append(self)
        self.diary.put((self.name, message, threading.current_thread().name))


class Rounds:
    """Common work: whoever had an item is named once more."""

    def __init__(self, diary: Reports) -> None:
        self.diary = diary
        self.due: list[Worker] = []
        self.taken: list[Worker] = []
        self.fails = False
        self.gate: Gate | None = None

    @property
    def is_due(self) -> bool:
        return bool(self.due)

    def take(self) -> Sequence[Worker]:
        self.taken, self.due = self.due, []
        return self.taken

    def run(self, is_wanted: Callable[[], bool]) -> None:
        if self.fails:
            raise RuntimeError("the model failed")
        if self.gate is not None:
            self.gate.reached.set()
            assert self.gate.opened.wait(PATIENCE_S)
        if is_wanted():
            self.diary.put(("round", [worker.name for worker in self.taken], ""))


class Office:
    """A dispatcher, its workers, and what they wrote down."""

    def __init__(self, **patience: float) -> None:
        self.diary, self.boss = Reports(), Reports()
        self.rounds = Rounds(self.diary)
        self.dispatcher = Dispatcher("office", start_actor_thread, self.rounds, **patience)
        self.outlets: list[ActorOutlet] = []

    def hire(self, name: str, *, in_rounds: bool = False) -> ActorOutlet:
        ref = Worker.start(name, self.dispatcher, self.diary, self.boss)
        outlet = ActorOutlet(ref)
        self.outlets.append(outlet)
        if in_rounds:
            actor = ref._actor_weakref()
            assert isinstance(actor, Worker)
            actor.rounds = self.rounds
        return outlet

    def close(self) -> None:
        for outlet in self.outlets:
            outlet.stop()
        assert join_actors(PATIENCE_S) == []


@pytest.fixture
def office() -> Iterator[Office]:
    made = Office()
    yield made
    made.close()


def threads(entries: Sequence[object]) -> set[str]:
    return {entry[2] for entry in entries if isinstance(entry, tuple) and entry[2]}


def test_all_actors_run_on_one_thread_each_from_its_beginning_to_its_end() -> None:
    office = Office()
    one, two = office.hire("one"), office.hire("two")
    for number in range(3):
        one.put(Item(number))
        two.put(Item(number))
    entries = office.diary.wait_for(8)
    office.close()
    assert threads(office.diary.messages) == {"office"}
    for name in ("one", "two"):
        own = [entry[1] for entry in office.diary.messages if entry[0] == name]  # type: ignore[index]
        assert own == ["begins", Item(0), Item(1), Item(2), "ends"]
    assert len(entries) >= 8


def test_messages_are_served_in_the_order_in_which_they_came_to_whomever(office: Office) -> None:
    one, two = office.hire("one"), office.hire("two")
    gate = Gate(threading.Event(), threading.Event())
    one.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    for number, outlet in enumerate([two, one, one, two, one]):
        outlet.put(Item(number))
    gate.opened.set()
    entries = office.diary.wait_for(8)
    items = [entry[1].number for entry in entries if isinstance(entry[1], Item)]  # type: ignore[index]
    assert items == [0, 1, 2, 3, 4]


def test_what_presses_waits_for_what_is_ahead_of_it_and_for_nobody_else(office: Office) -> None:
    one, two, gate = (
        office.hire("one"),
        office.hire("two"),
        Gate(threading.Event(), threading.Event()),
    )
    one.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    for number in range(3):
        one.put(Item(number))
        two.put(Item(10 + number))
    two.put(Farewell())
    two.put(Item(13))
    gate.opened.set()
    entries = office.diary.wait_for(11)
    served = [entry[1] for entry in entries[3:]]  # type: ignore[index]
    of_two = [Item(10), Item(11), Item(12), Farewell(), Item(13)]
    assert served == [*of_two, Item(0), Item(1), Item(2)]


def test_what_presses_for_an_actor_that_has_not_begun_is_handled_when_it_has(
    office: Office,
) -> None:
    one, gate = office.hire("one"), Gate(threading.Event(), threading.Event())
    one.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    one.put(Item(1))
    office.hire("two").put(Farewell())
    gate.opened.set()
    entries = office.diary.wait_for(5)
    assert [entry[1] for entry in entries[2:]] == ["begins", Farewell(), Item(1)]  # type: ignore[index]


def test_the_thread_ends_with_the_last_actor_and_another_begins_with_the_next() -> None:
    office = Office()
    office.hire("one")
    office.diary.wait_for(1)
    office.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "office"]
    two = office.hire("two")
    two.put(Item(1))
    office.diary.wait_for(4)
    office.close()


def test_a_crash_takes_down_the_one_at_fault_alone(office: Office) -> None:
    one, two = office.hire("one"), office.hire("two")
    one.put(Bomb())
    one.put(Item(1))
    two.put(Item(2))
    [crash] = office.boss.wait_for(1)
    assert isinstance(crash, Crashed)
    assert crash.name == "one"
    entries = office.diary.wait_for(3)
    assert [entry[:2] for entry in entries] == [  # type: ignore[index]
        ("one", "begins"),
        ("two", "begins"),
        ("two", Item(2)),
    ]


def test_work_left_by_several_messages_is_done_in_one_round_as_soon_as_none_waits(
    office: Office,
) -> None:
    one, two = office.hire("one", in_rounds=True), office.hire("two", in_rounds=True)
    gate = Gate(threading.Event(), threading.Event())
    one.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    one.put(Item(1))
    two.put(Item(2))
    gate.opened.set()
    entries = office.diary.wait_for(6)
    assert entries[-1] == ("round", ["one", "two"], "")


def test_a_round_comes_at_once_for_who_is_alone(office: Office) -> None:
    one = office.hire("one", in_rounds=True)
    one.put(Item(1))
    assert office.diary.wait_for(3)[-1] == ("round", ["one"], "")
    one.put(Item(2))
    assert office.diary.wait_for(5)[-1] == ("round", ["one"], "")


def test_messages_that_never_end_do_not_keep_the_rounds_from_coming(office: Office) -> None:
    one, two = office.hire("one", in_rounds=True), office.hire("two")
    gate = Gate(threading.Event(), threading.Event())
    two.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    one.put(Item(1))
    for number in range(500):
        two.put(Item(number))
    gate.opened.set()
    entries = office.diary.wait_for(505)
    assert ("round", ["one"], "") in entries[:100]


def test_a_round_that_fails_has_failed_for_all_whom_it_was_for(office: Office) -> None:
    one, two = office.hire("one", in_rounds=True), office.hire("two")
    office.rounds.fails = True
    one.put(Item(1))
    [crash] = office.boss.wait_for(1)
    assert isinstance(crash, Crashed)
    assert crash.name == "one"
    two.put(Item(2))
    office.diary.wait_for(4)


def test_who_is_stuck_is_given_up_and_the_others_go_on_with_the_next_message() -> None:
    office = Office(longest_step_s=0.05)
    stuck, other = office.hire("stuck"), office.hire("other")
    gate = Gate(threading.Event(), threading.Event())
    stuck.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    time.sleep(0.06)  # real time is what this is about
    other.put(Item(1))
    [crash] = office.boss.wait_for(1)
    assert isinstance(crash, Crashed)
    assert (crash.name, type(crash.error)) == ("stuck", StuckError)
    assert [entry[:2] for entry in office.diary.wait_for(3)] == [  # type: ignore[index]
        ("stuck", "begins"),
        ("other", "begins"),
        ("other", Item(1)),
    ]
    gate.opened.set()
    other.put(Item(2))
    office.diary.wait_for(4)
    office.close()


@pytest.mark.parametrize("when", ["before", "within"])
def test_who_is_stuck_is_given_up_for_a_message_that_waits_though_no_other_comes(when: str) -> None:
    office = Office(longest_step_s=0.5)
    stuck, other = office.hire("stuck"), office.hire("other")
    first, second = (Gate(threading.Event(), threading.Event()) for _ in range(2))
    stuck.put(first)
    assert first.reached.wait(PATIENCE_S)
    stuck.put(second)
    if when == "before":
        other.put(Item(1))
        first.opened.set()
        assert second.reached.wait(PATIENCE_S)
    else:
        first.opened.set()
        assert second.reached.wait(PATIENCE_S)
        other.put(Item(1))
    [crash] = office.boss.wait_for(1)
    assert isinstance(crash, Crashed)
    assert (crash.name, type(crash.error)) == ("stuck", StuckError)
    assert office.diary.wait_for(3)[-1][:2] == ("other", Item(1))  # type: ignore[index]
    second.opened.set()
    office.close()


def test_what_was_to_be_served_when_something_pressed_that_hangs_is_not_lost() -> None:
    office = Office(longest_step_s=0.5)
    busy, stuck, other = (office.hire(name) for name in ("busy", "stuck", "other"))
    first = Gate(threading.Event(), threading.Event())
    pressing = PressingGate(threading.Event(), threading.Event())
    office.diary.wait_for(3)
    busy.put(first)
    assert first.reached.wait(PATIENCE_S)
    other.put(Item(1))
    stuck.put(pressing)
    first.opened.set()
    assert pressing.reached.wait(PATIENCE_S)
    [crash] = office.boss.wait_for(1)
    assert isinstance(crash, Crashed)
    assert (crash.name, type(crash.error)) == ("stuck", StuckError)
    assert office.diary.wait_for(4)[-1][:2] == ("other", Item(1))  # type: ignore[index]
    pressing.opened.set()
    office.close()


def test_what_a_round_brings_after_it_was_given_up_counts_no_more() -> None:
    office = Office(longest_step_s=0.05)
    one, other = office.hire("one", in_rounds=True), office.hire("other")
    office.rounds.gate = Gate(threading.Event(), threading.Event())
    one.put(Item(1))
    assert office.rounds.gate.reached.wait(PATIENCE_S)
    time.sleep(0.06)
    other.put(Item(2))
    office.boss.wait_for(1)
    office.diary.wait_for(4)
    office.rounds.gate.opened.set()
    other.put(Item(3))
    office.diary.wait_for(5)
    office.close()
    assert not [entry for entry in office.diary.messages if entry[0] == "round"]  # type: ignore[index]


def test_who_was_abandoned_in_the_middle_of_a_step_is_not_waited_for_so_long() -> None:
    office = Office(longest_abandoned_step_s=0.05)
    stuck = office.hire("stuck")
    gate = Gate(threading.Event(), threading.Event())
    stuck.put(gate)
    assert gate.reached.wait(PATIENCE_S)
    stuck.abandon()
    time.sleep(0.06)
    successor = office.hire("successor")
    successor.put(Item(1))
    assert office.diary.wait_for(3)[-1][:2] == ("successor", Item(1))  # type: ignore[index]
    assert office.boss.messages == []
    gate.opened.set()
    office.close()


def test_without_a_thread_to_be_had_nothing_has_begun() -> None:
    def start(name: str, run: Callable[[], None]) -> None:
        raise RuntimeError(f"can't start a thread {name} for {run}")

    dispatcher = Dispatcher("office", start)
    with pytest.raises(RuntimeError):
        Worker.start("one", dispatcher, Reports(), Reports())
