"""What every chart gets from StrictChart."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from statemachine import State
from statemachine.exceptions import TransitionNotAllowed

from statecharts.base import Effect, StrictChart


@dataclass(frozen=True, slots=True)
class Note(Effect):
    text: str


class Door(StrictChart):
    ajar = State("ajar", initial=True)
    shut = State("shut")

    close = ajar.to(shut)
    reopen = shut.to(ajar)
    knock = shut.to(shut, internal=True)
    jam = ajar.to(shut, on="break_down")
    explode = ajar.to(shut)

    def on_enter_ajar(self) -> None:
        self.emit(Note("opened"))

    def on_enter_shut(self, event: str) -> None:
        self.emit(Note("shut"))
        if event == "explode":
            raise ZeroDivisionError("the frame broke")

    def on_knock(self) -> None:
        self.emit(Note("knock"))

    def break_down(self) -> None:
        raise ZeroDivisionError("the hinge broke")


def test_an_illegal_event_raises_and_changes_nothing() -> None:
    door = Door()
    door.take_effects()
    with pytest.raises(TransitionNotAllowed):
        door.send("reopen")
    assert door.state_name == "ajar"
    assert door.take_effects() == []


def test_an_unknown_event_raises_and_changes_nothing() -> None:
    door = Door()
    door.take_effects()
    with pytest.raises(TransitionNotAllowed):
        door.send("sing")
    assert door.state_name == "ajar"
    assert door.take_effects() == []


def test_an_exception_in_a_callback_reaches_the_caller() -> None:
    door = Door()
    with pytest.raises(ZeroDivisionError, match="hinge"):
        door.send("jam")
    with pytest.raises(ZeroDivisionError, match="frame"):
        door.send("explode")


def test_an_exception_on_the_way_leaves_the_old_state() -> None:
    door = Door()
    with pytest.raises(ZeroDivisionError):
        door.send("jam")
    assert door.state_name == "ajar"


def test_an_event_that_stays_in_its_state_runs_no_entry_action() -> None:
    door = Door()
    door.send("close")
    door.take_effects()
    door.send("knock")
    assert door.state_name == "shut"
    assert door.take_effects() == [Note("knock")]


def test_entering_the_initial_state_records_effects() -> None:
    assert Door().take_effects() == [Note("opened")]


def test_effects_are_handed_over_once_and_oldest_first() -> None:
    door = Door()
    door.send("close")
    door.send("knock")
    assert door.take_effects() == [Note("opened"), Note("shut"), Note("knock")]
    assert door.take_effects() == []
