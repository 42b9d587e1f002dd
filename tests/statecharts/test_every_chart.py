"""What holds for every chart of the catalogue, in every configuration of it."""

from __future__ import annotations

import sys

import pytest

from statecharts import CHARTS, Effect
from statecharts.catalogue import ENTRIES, exploration
from statecharts.walk import Trace, observe
from tests.statecharts.paths import must_hold, names

every_chart = pytest.mark.parametrize("name", list(ENTRIES))


@every_chart
def test_everything_was_explored(name: str) -> None:
    assert exploration(name).complete


@every_chart
def test_a_refused_event_raises_and_changes_nothing(name: str) -> None:
    seen = exploration(name)
    assert seen.refused
    for state, stimulus in seen.refused:
        way = seen.path_to(state)
        assert isinstance(way, Trace)
        chart = way.replay()
        before = chart.take_effects()
        with pytest.raises(CHARTS[name].TransitionNotAllowed):
            stimulus.send_to(chart)
        assert observe(chart) == state, f"{stimulus} changed it after\n{way}"
        assert chart.take_effects() == [], f"{stimulus} had effects after\n{way}"
        assert way.replay().take_effects() == before


@every_chart
def test_every_configuration_can_come_to_rest(name: str) -> None:
    seen = exploration(name)
    stranded = seen.stranded(*ENTRIES[name].resting)
    must_hold(seen.path_to(stranded[0]) if stranded else None)


@every_chart
def test_it_rests_in_its_final_states_or_where_it_starts(name: str) -> None:
    chart = CHARTS[name]
    final = {state.id for state in chart.states if state.final}
    start = {state.id for state in chart.states if state.initial}
    assert set(ENTRIES[name].resting) == (final or start)


@every_chart
def test_nothing_is_legal_in_a_final_state(name: str) -> None:
    final = {state.id for state in CHARTS[name].states if state.final}
    must_hold(exploration(name).counter_edge(lambda edge: edge.source.name not in final))


@every_chart
def test_every_transition_was_walked(name: str) -> None:
    walked = {
        (edge.source.name, edge.stimulus.event, edge.target.name)
        for edge in exploration(name).edges
    }
    drawn = {
        (transition.source.id, str(transition.event), target.id)
        for state in CHARTS[name].states
        for transition in state.transitions
        for target in transition.targets
    }
    assert walked == drawn


@every_chart
def test_every_effect_that_its_module_declares_really_happens(name: str) -> None:
    declared = {
        item
        for item in vars(sys.modules[CHARTS[name].__module__]).values()
        if isinstance(item, type) and issubclass(item, Effect) and item is not Effect
    }
    assert {type(effect) for edge in exploration(name).edges for effect in edge.effects} == declared


@every_chart
def test_the_effects_of_a_transition_do_not_depend_on_data(name: str) -> None:
    """So one label in the diagram tells the whole truth."""
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for edge in exploration(name).edges:
        key = (edge.source.name, edge.stimulus.event, edge.target.name)
        assert kinds.setdefault(key, names(edge.effects)) == names(edge.effects)


@every_chart
def test_its_states_are_flat_and_described_by_their_own_name(name: str) -> None:
    for state in CHARTS[name].states:
        assert not state.states
        assert state.id == state.value == state.name


@every_chart
def test_every_self_transition_is_internal_so_that_it_enters_nothing_anew(name: str) -> None:
    for state in CHARTS[name].states:
        for transition in state.transitions:
            assert transition.internal == (transition.target is transition.source)


@every_chart
def test_a_new_chart_asks_for_nothing_yet(name: str) -> None:
    assert exploration(name).opening == ()
