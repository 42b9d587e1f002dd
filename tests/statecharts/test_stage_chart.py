"""The life of a stage: clean before the marker goes on, and the marker always goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from statecharts.catalogue import ENTRIES, exploration
from statecharts.explore import explore
from statecharts.stage import OpenStage, PassSessionEnd, ResetStage, StageChart
from tests.statecharts.paths import must_hold

if TYPE_CHECKING:
    from statecharts.walk import Configuration, Edge

SEEN = exploration("stage")


def lease_of(state: Configuration) -> object:
    return dict(state.data)["lease"]


def carried(edge: Edge) -> str:
    return str(dict(edge.stimulus.arguments)["lease"])


def test_every_configuration_can_reach_unbound() -> None:
    assert SEEN.can_reach("unbound")


def test_a_stage_is_unbound_exactly_when_it_has_no_lease() -> None:
    must_hold(SEEN.counter_state(lambda s: (s.name == "unbound") == (lease_of(s) is None)))


def test_session_end_is_legal_everywhere() -> None:
    assert not [
        (str(state), str(stimulus))
        for state, stimulus in SEEN.refused
        if stimulus.event == "session_end"
    ]


def test_every_session_end_is_passed_on_exactly_once_and_last() -> None:
    def passed_on(edge: Edge) -> bool:
        marks = [effect for effect in edge.effects if isinstance(effect, PassSessionEnd)]
        if edge.stimulus.event != "session_end":
            return not marks
        return marks == [PassSessionEnd(carried(edge))] == list(edge.effects[-1:])

    must_hold(SEEN.counter_edge(passed_on))


def test_the_reset_comes_before_the_marker_of_the_own_lease_goes_on() -> None:
    def reset_first(edge: Edge) -> bool:
        own = lease_of(edge.source)
        if edge.stimulus.event != "session_end" or own != carried(edge):
            return True
        return edge.effects == (ResetStage(carried(edge)), PassSessionEnd(carried(edge)))

    must_hold(SEEN.counter_edge(reset_first))


def test_the_marker_of_another_lease_passes_through_and_changes_nothing() -> None:
    def untouched(edge: Edge) -> bool:
        if edge.stimulus.event != "session_end" or lease_of(edge.source) == carried(edge):
            return True
        return edge.source == edge.target and edge.effects == (PassSessionEnd(carried(edge)),)

    must_hold(SEEN.counter_edge(untouched))


def test_a_stage_works_only_for_the_lease_that_it_is_bound_to() -> None:
    def own_work(edge: Edge) -> bool:
        if edge.stimulus.event not in ("begin", "finish"):
            return True
        return lease_of(edge.source) == carried(edge) == lease_of(edge.target)

    must_hold(SEEN.counter_edge(own_work))


def test_a_bound_stage_can_be_bound_to_another_lease_only_after_a_reset() -> None:
    def reset_between(edge: Edge) -> bool:
        before, after = lease_of(edge.source), lease_of(edge.target)
        return None in (before, after) or before == after

    must_hold(SEEN.counter_edge(reset_between))
    must_hold(
        SEEN.counter_edge(
            lambda e: (
                (lease_of(e.source) is not None and lease_of(e.target) is None)
                == any(isinstance(effect, ResetStage) for effect in e.effects)
            )
        )
    )


def test_every_session_that_was_opened_is_reset_exactly_once() -> None:
    def opened(
        memory: tuple[object, ...], _: object, effects: tuple[object, ...]
    ) -> tuple[str, ...]:
        leases = [str(lease) for lease in memory]
        for effect in effects:
            if isinstance(effect, OpenStage):
                leases.append(str(effect.lease))
            if isinstance(effect, ResetStage):
                leases.remove(str(effect.lease))
        return tuple(leases)

    seen = explore(StageChart, ENTRIES["stage"].stimuli, watch=opened)
    must_hold(
        seen.counter_state(lambda s: s.memory == (() if s.name == "unbound" else (lease_of(s),)))
    )


class StageLifeCycle(RuleBasedStateMachine):
    """A stage and a model of it that knows only: whose it is, and whether it works."""

    def __init__(self) -> None:
        super().__init__()
        self.chart = StageChart()
        self.owner: str | None = None
        self.busy = False

    def refused(self, event: str, lease: str) -> None:
        with pytest.raises(StageChart.TransitionNotAllowed):
            self.chart.send(event, lease=lease)
        assert self.chart.take_effects() == []

    leases = st.sampled_from(["A", "B", "C"])

    @rule(lease=leases)
    def bind(self, lease: str) -> None:
        if self.owner is not None:
            self.refused("bind", lease)
            return
        self.chart.send("bind", lease=lease)
        self.owner = lease
        assert self.chart.take_effects() == [OpenStage(lease)]

    @rule(lease=leases, begins=st.booleans())
    def work(self, lease: str, *, begins: bool) -> None:
        event = "begin" if begins else "finish"
        if self.owner != lease or self.busy == begins:
            self.refused(event, lease)
            return
        self.chart.send(event, lease=lease)
        self.busy = begins
        assert self.chart.take_effects() == []

    @rule(lease=leases)
    def session_end(self, lease: str) -> None:
        self.chart.send("session_end", lease=lease)
        own = lease == self.owner
        resets = [ResetStage(lease)] if own else []
        assert self.chart.take_effects() == [*resets, PassSessionEnd(lease)]
        if own:
            self.owner, self.busy = None, False

    @invariant()
    def agrees_with_the_model(self) -> None:
        state = "unbound" if self.owner is None else "working" if self.busy else "bound"
        assert (self.chart.state_name, self.chart.lease) == (state, self.owner)


StageLifeCycle.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestStageLifeCycle = StageLifeCycle.TestCase
