"""The walk itself: it sees everything, it ends, and what it says can be replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from statemachine import State

from statecharts.base import Effect, StrictChart
from statecharts.catalogue import exploration
from statecharts.explore import IncompleteExploration, explore
from statecharts.walk import Configuration, Edge, Stimulus, Trace, observe
from tests.statecharts.paths import must_hold, whole_log

if TYPE_CHECKING:
    from statecharts.walk import Memory


@dataclass(frozen=True, slots=True)
class Beep(Effect):
    times: int


class Counter(StrictChart):
    """Counts without an end; one way leads into a trap that only looks as if it had an exit."""

    counting = State("counting", initial=True)
    trapped = State("trapped")
    done = State("done", final=True)

    more = counting.to(counting, internal=True)
    trap = counting.to(trapped)
    sigh = trapped.to(trapped, internal=True)
    stop = counting.to(done, cond="is_far") | trapped.to(done, cond="is_miracle")

    def __init__(self) -> None:
        self.count = 0
        super().__init__()

    def on_more(self, by: int = 1) -> None:
        self.count = min(self.count + by, self.limit)
        self.emit(Beep(by))

    limit = 1_000_000

    def is_far(self) -> bool:
        return self.count >= 2

    def is_miracle(self) -> bool:
        return False


class ShortCounter(Counter):
    limit = 3


class LongerCounter(Counter):
    limit = 5


MORE, TRAP, SIGH, STOP = map(Stimulus.of, ("more", "trap", "sigh", "stop"))
ALL = (MORE, TRAP, SIGH, STOP)
SEEN = explore(ShortCounter, ALL)


def test_every_stimulus_is_either_taken_or_refused_in_every_configuration() -> None:
    tried = [(e.source, e.stimulus) for e in SEEN.edges] + list(SEEN.refused)
    assert len(tried) == len(set(tried)) == len(SEEN.states) * len(ALL)


def test_data_that_a_chart_keeps_makes_different_configurations() -> None:
    counting = [dict(state.data)["count"] for state in SEEN.states if state.name == "counting"]
    assert counting == [0, 1, 2, 3]
    assert len(SEEN.states) == 4 + 4 + 2  # trapped at each count, done at two of them


def test_the_first_configuration_is_that_of_a_new_chart() -> None:
    assert SEEN.states[0] == observe(ShortCounter()) == Configuration("counting", (("count", 0),))


def test_an_endless_chart_stops_at_the_bound_and_says_so() -> None:
    seen = explore(Counter, ALL, bound=20)
    assert not seen.complete
    assert len(seen.states) == 20
    assert "INCOMPLETE: stopped at 20" in str(seen)


def test_a_bound_that_is_just_enough_is_not_hit() -> None:
    assert explore(ShortCounter, ALL, bound=len(SEEN.states)).complete
    assert not explore(ShortCounter, ALL, bound=len(SEEN.states) - 1).complete


def test_no_verdict_on_everything_is_given_when_the_bound_was_hit() -> None:
    seen = explore(Counter, [MORE], bound=5)
    with pytest.raises(IncompleteExploration, match="stopped after 5"):
        seen.can_reach("counting")
    with pytest.raises(IncompleteExploration):
        seen.counter_state(lambda _: True)
    with pytest.raises(IncompleteExploration):
        seen.counter_edge(lambda _: True)


def test_a_counter_example_counts_even_when_the_bound_was_hit() -> None:
    seen = explore(Counter, [MORE], bound=5)
    trace = seen.counter_state(lambda s: dict(s.data)["count"] != 3)
    assert trace is not None
    assert trace.stimuli == (MORE, MORE, MORE)


def test_a_trap_is_found() -> None:
    assert {state.name for state in SEEN.stranded("done")} == {"trapped"}
    assert not SEEN.can_reach("done")
    assert SEEN.can_reach("done", "trapped")


def test_a_way_to_a_state_is_a_shortest_one_and_replays() -> None:
    trace = SEEN.path_to("done")
    assert trace is not None
    assert trace.stimuli == (MORE, MORE, STOP)
    chart = trace.replay()
    assert observe(chart) == Configuration("done", (("count", 2),))
    assert chart.take_effects() == [Beep(1), Beep(1)]


def test_the_shortest_way_is_found_even_if_a_longer_one_could_be_seen_first() -> None:
    by_two, by_one = Stimulus.of("more", by=2), Stimulus.of("more", by=1)
    trace = explore(LongerCounter, [by_two, by_one]).counter_state(
        lambda state: dict(state.data)["count"] != 4
    )
    assert trace is not None
    assert trace.stimuli == (by_two, by_two)


@pytest.mark.parametrize("name", ["unit", "stage", "response"])
def test_every_configuration_and_edge_can_be_replayed(name: str) -> None:
    seen = exploration(name)
    goals: list[Configuration | Edge] = [*seen.states, *seen.edges]
    for goal in goals:
        trace = seen.path_to(goal)
        assert isinstance(trace, Trace)
        end = goal.target if isinstance(goal, Edge) else goal
        chart = trace.replay()
        assert observe(chart) == end
        assert chart.take_effects() == [effect for step in trace.steps for effect in step.effects]


def test_there_is_no_way_to_what_cannot_be_reached() -> None:
    assert SEEN.path_to("heaven") is None
    assert explore(ShortCounter, [TRAP]).path_to("done") is None


def test_a_counter_example_prints_as_a_trace_that_a_reader_can_follow() -> None:
    trace = SEEN.counter_edge(lambda edge: edge.target.name != "trapped")
    with pytest.raises(pytest.fail.Exception) as failure:
        must_hold(trace)
    assert str(failure.value).splitlines()[1:] == [
        "ShortCounter starts counting [count=0]",
        "  1. trap() -> trapped [count=0]",
    ]
    assert str(SEEN.path_to("done")).splitlines() == [
        "ShortCounter starts counting [count=0]",
        "  1. more() -> counting [count=1]  / Beep(times=1)",
        "  2. more() -> counting [count=2]  / Beep(times=1)",
        "  3. stop() -> done [count=2]",
    ]


def test_the_way_to_the_start_is_empty() -> None:
    assert str(SEEN.path_to("counting")) == "ShortCounter starts counting [count=0]"


def test_arguments_reach_the_chart_and_the_trace() -> None:
    by_two = Stimulus.of("more", by=2)
    trace = explore(ShortCounter, [by_two, STOP]).path_to("done")
    assert trace is not None
    assert trace.stimuli == (by_two, STOP)
    assert str(by_two) == "more(by=2)"


def test_what_a_watch_remembers_is_part_of_the_configuration() -> None:
    def last_two(memory: Memory, stimulus: Stimulus, effects: tuple[Effect, ...]) -> Memory:
        return whole_log(memory, stimulus, effects)[-2:]

    seen = explore(ShortCounter, ALL, watch=last_two)
    assert seen.path_to(Configuration("counting", (("count", 3),), ("more", Beep(1)))) is not None
    assert len(seen.states) > len(SEEN.states)


def test_an_error_in_a_chart_is_not_taken_for_a_refusal() -> None:
    with pytest.raises(TypeError):
        explore(ShortCounter, [Stimulus.of("more", by="two")])
