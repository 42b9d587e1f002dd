"""The engine of the charts does what the library's own does, which it stands in for."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from statemachine import State
from statemachine.exceptions import InvalidDefinition, TransitionNotAllowed

from statecharts.base import StrictChart
from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.flat import FlatEngine

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def by_the_library(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on charts run on the library's own engine."""

    def switch() -> None:
        for hook in ("_get_engine", "_register_callbacks"):
            monkeypatch.delattr(StrictChart, hook)

    return switch


@pytest.mark.parametrize("name", list(ENTRIES))
def test_all_that_a_chart_can_do_is_what_the_library_does_with_it(
    name: str, by_the_library: Callable[[], None]
) -> None:
    entry = ENTRIES[name]
    ours = explore(entry.chart, entry.stimuli)
    by_the_library()
    assert explore(entry.chart, entry.stimuli) == ours


class Talkative(StrictChart):
    """Has a callback of every kind, and notes each with the state in which it is called."""

    one = State("one", initial=True)
    two = State("two")
    three = State("three", final=True)

    go = one.to(two, cond=["allowed", "likes"], before="fetch", on="carry") | one.to(
        three, unless="allowed", after="tidy"
    )
    again = two.to(two) | one.to(one, internal=True, on="carry")
    back = two.to(one, on=["carry", "fetch"])
    chain = two.to(one)

    def __init__(self) -> None:
        self.notes: list[tuple[object, ...]] = []
        super().__init__()

    def note(self, *what: object) -> None:
        self.notes.append((*what, *self.configuration_values))

    def allowed(self, *, go: bool = True) -> bool:
        self.note("allowed", go)
        return go

    def likes(self, what: str = "tea") -> bool:
        self.note("likes", what)
        return what != "rain"

    def fetch(self, event: str) -> None:
        self.note("fetch", str(event))

    def carry(self) -> None:
        self.note("carry")

    def tidy(self) -> None:
        self.note("tidy")

    def before_transition(self) -> None:
        self.note("before_transition")

    def before_go(self, what: str = "tea") -> None:
        self.note("before_go", what)

    def on_transition(self) -> None:
        self.note("on_transition")

    def on_back(self, *, fail: bool = False) -> None:
        self.note("on_back")
        if fail:
            raise ZeroDivisionError

    def on_chain(self, *, fail: bool = False) -> None:
        self.send("go")
        self.note("on_chain")
        if fail:
            raise ZeroDivisionError

    def after_go(self, *, fail: bool = False) -> None:
        self.note("after_go")
        if fail:
            raise ZeroDivisionError

    def after_transition(self) -> None:
        self.note("after_transition")

    def on_enter_state(self, event: str) -> None:
        self.note("on_enter_state", str(event))

    def on_exit_state(self) -> None:
        self.note("on_exit_state")

    def on_enter_two(self, *, stumble: bool = False) -> None:
        self.note("on_enter_two")
        if stumble:
            raise ZeroDivisionError

    def on_exit_two(self) -> None:
        self.note("on_exit_two")


def story(seed: int) -> list[object]:
    """What a talkative chart notes of events that are drawn, and how each ends."""
    draw = random.Random(seed)  # noqa: S311 - chance, no secret
    chart = Talkative()
    told: list[object] = []
    for _ in range(8):
        event = draw.choice(["go", "again", "back", "chain", "nothing"])
        data: dict[str, Any] = {
            name: value
            for name, value in (
                ("what", draw.choice(["tea", "rain"])),
                ("go", draw.random() < 0.8),
                ("fail", draw.random() < 0.2),
                ("stumble", draw.random() < 0.2),
                ("unknown", None),
            )
            if draw.random() < 0.5
        }
        try:
            chart.send(event, **data)
        except (TransitionNotAllowed, ZeroDivisionError) as error:
            told.append(repr(error))
        told += [*chart.notes, chart.is_terminated, chart.state_name]
        chart.notes.clear()
    return told


def test_every_kind_of_callback_comes_when_the_library_calls_it(
    by_the_library: Callable[[], None],
) -> None:
    ours = [story(seed) for seed in range(100)]
    by_the_library()
    assert [story(seed) for seed in range(100)] == ours


def test_the_charts_run_on_the_engine_for_flat_ones() -> None:
    assert {type(entry.chart()._engine) for entry in ENTRIES.values()} == {FlatEngine}


def test_a_chart_with_states_in_states_is_refused() -> None:
    class Nested(StrictChart):
        class outer(State.Compound):  # noqa: N801 - the library's way to write it
            inner = State(initial=True)
            other = State()
            move = inner.to(other)

        end = State(final=True)
        leave = outer.to(end)

    with pytest.raises(InvalidDefinition, match="is not flat"):
        Nested()


def test_a_callback_that_is_not_there_is_told_by_name() -> None:
    class Unfinished(StrictChart):
        here = State("here", initial=True)
        there = State("there", final=True)
        go = here.to(there, on="dance")

    with pytest.raises(InvalidDefinition, match="Unfinished has no method 'dance'"):
        Unfinished()


def test_a_callback_that_takes_anything_is_told_by_name() -> None:
    class Greedy(StrictChart):
        here = State("here", initial=True)
        there = State("there", final=True)
        go = here.to(there)

        def on_go(self, **anything: object) -> None:
            """Take all."""

    with pytest.raises(InvalidDefinition, match="on_go does not name its arguments"):
        Greedy()


def test_a_transition_without_an_event_is_refused() -> None:
    class Restless(StrictChart):
        here = State("here", initial=True)
        there = State("there", final=True)
        go = here.to(there)
        here.to(there)

    with pytest.raises(InvalidDefinition, match="no event or target"):
        Restless()
