"""The life of a unit: one lease at a time, and never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES, exploration
from statecharts.explore import explore
from statecharts.unit import (
    BindStages,
    DisarmDeadline,
    Fence,
    ReplaceStage,
    ReplaceStages,
    ReturnToPool,
    SendSessionEnd,
    UnitChart,
)
from statecharts.walk import Configuration, Edge, observe
from tests.statecharts.paths import must_hold

if TYPE_CHECKING:
    from statecharts.base import Effect
    from statecharts.walk import Memory, Stimulus

SEEN = exploration("unit")


def lease_of(state: Configuration) -> object:
    return dict(state.data)["lease"]


def lent(memory: Memory, _: Stimulus, effects: tuple[Effect, ...]) -> Memory:
    """Leases that were bound and not returned yet; a return without a binding shows up too."""
    for effect in effects:
        if isinstance(effect, BindStages):
            memory = (*memory, effect.lease)
        if isinstance(effect, ReturnToPool):
            at = memory.index(effect.lease) if effect.lease in memory else None
            memory = (
                (*memory, ("returned too often", effect.lease))
                if at is None
                else (*memory[:at], *memory[at + 1 :])
            )
    return memory


def test_every_configuration_can_reach_idle() -> None:
    assert SEEN.can_reach("idle")


def test_a_unit_is_idle_exactly_when_it_holds_no_lease() -> None:
    must_hold(SEEN.counter_state(lambda s: (s.name == "idle") == (lease_of(s) is None)))


def test_no_event_that_carries_another_lease_moves_a_unit() -> None:
    def stays_with_its_lease(edge: Edge) -> bool:
        carried = dict(edge.stimulus.arguments)["lease"]
        return lease_of(edge.source) in (None, carried)

    must_hold(SEEN.counter_edge(stays_with_its_lease))


def test_a_lease_never_turns_into_another_one() -> None:
    def keeps_or_frees(edge: Edge) -> bool:
        before, after = lease_of(edge.source), lease_of(edge.target)
        return before is None or after in (before, None)

    must_hold(SEEN.counter_edge(keeps_or_frees))


def test_effects_speak_only_of_the_lease_that_holds_the_unit() -> None:
    def speaks_of_its_own(edge: Edge) -> bool:
        own = lease_of(edge.source) or lease_of(edge.target)
        return all(getattr(effect, "lease", own) == own for effect in edge.effects)

    must_hold(SEEN.counter_edge(speaks_of_its_own))


def test_every_session_that_was_claimed_is_returned_exactly_once() -> None:
    seen = explore(UnitChart, ENTRIES["unit"].stimuli, watch=lent)

    def balanced(state: Configuration) -> bool:
        return state.memory == (() if state.name == "idle" else (lease_of(state),))

    must_hold(seen.counter_state(balanced))


def test_only_one_claim_can_hold_a_unit() -> None:
    must_hold(SEEN.counter_edge(lambda e: e.stimulus.event != "claim" or e.source.name == "idle"))


def test_a_unit_leaves_draining_only_when_the_marker_came_out_or_time_is_up() -> None:
    def proven(edge: Edge) -> bool:
        leaves = edge.source.name == "draining" != edge.target.name
        return not leaves or edge.stimulus.event in ("drained", "drain_timeout")

    must_hold(SEEN.counter_edge(proven))


def test_a_unit_becomes_idle_only_by_the_marker_or_with_fresh_stages() -> None:
    def proven(edge: Edge) -> bool:
        return edge.target.name != "idle" or (
            edge.source.name,
            edge.stimulus.event,
        ) in {("draining", "drained"), ("quarantined", "drained"), ("quarantined", "replaced")}

    must_hold(SEEN.counter_edge(proven))


def test_the_fence_comes_before_the_marker_on_the_way_into_draining() -> None:
    def fenced_first(edge: Edge) -> bool:
        if edge.source.name == "draining" or edge.target.name != "draining":
            return True
        lease = lease_of(edge.target)
        return edge.effects[:2] == (Fence(lease), SendSessionEnd(lease))

    must_hold(SEEN.counter_edge(fenced_first))


def test_the_marker_is_sent_only_while_draining() -> None:
    def sends_none(edge: Edge) -> bool:
        sent = any(isinstance(effect, SendSessionEnd) for effect in edge.effects)
        return not sent or edge.target.name == "draining"

    must_hold(SEEN.counter_edge(sends_none))


def test_a_stage_that_crashes_while_draining_may_have_had_the_marker_so_it_is_sent_again() -> None:
    chart = UnitChart()
    chart.send("claim", lease="A")
    chart.send("end_session", lease="A")
    chart.take_effects()
    chart.send("stage_crashed", lease="A", stage="llm")
    assert chart.take_effects() == [ReplaceStage("A", "llm"), SendSessionEnd("A")]


@pytest.mark.parametrize("events", [["claim"], ["claim", "start"]])
def test_a_stage_that_crashes_before_is_replaced_and_the_session_goes_on(events: list[str]) -> None:
    chart = UnitChart()
    for event in events:
        chart.send(event, lease="A")
    chart.take_effects()
    state = chart.state_name
    chart.send("stage_crashed", lease="A", stage="llm")
    assert (chart.state_name, chart.take_effects()) == (state, [ReplaceStage("A", "llm")])


def test_a_replacement_that_failed_can_be_tried_again_as_often_as_it_takes() -> None:
    chart = UnitChart()
    for event in ("claim", "end_session", "drain_timeout"):
        chart.send(event, lease="A")
    chart.take_effects()
    for _ in range(3):
        chart.send("retry_replace", lease="A")
        assert chart.take_effects() == [ReplaceStages("A")]
    chart.send("replaced", lease="A")
    assert chart.take_effects() == [DisarmDeadline(), ReturnToPool("A")]


def test_a_doubled_release_cannot_touch_the_next_session() -> None:
    chart = UnitChart()
    for event in ("claim", "start", "end_session", "drained"):
        chart.send(event, lease="A")
    chart.send("claim", lease="B")
    chart.take_effects()
    for late in ("end_session", "drained", "drain_timeout", "replaced"):
        with pytest.raises(UnitChart.TransitionNotAllowed):
            chart.send(late, lease="A")
    assert observe(chart) == Configuration("claimed", (("lease", "B"),))
    assert chart.take_effects() == []
