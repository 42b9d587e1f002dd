"""The life of a response: one end, and nothing after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.response import CloseResponse, Generate, ResponseChart
from tests.statecharts.paths import PATHS, effect_log, must_hold

if TYPE_CHECKING:
    from statecharts.walk import Configuration

ENDS = ("completed", "incomplete", "cancelled", "failed")
SEEN = explore(ResponseChart, ENTRIES["response"].stimuli, watch=effect_log, bound=PATHS)


def closes(state: Configuration) -> list[CloseResponse]:
    return [effect for effect in state.memory if isinstance(effect, CloseResponse)]


def test_every_configuration_can_reach_an_end() -> None:
    assert SEEN.can_reach(*ENDS)


@pytest.mark.parametrize("end", ENDS)
def test_every_end_can_be_reached(end: str) -> None:
    assert SEEN.path_to(end) is not None


def test_a_response_is_closed_exactly_once_with_the_status_of_its_end() -> None:
    def closed_once(state: Configuration) -> bool:
        return [close.status for close in closes(state)] == [state.name] * (state.name in ENDS)

    must_hold(SEEN.counter_state(closed_once))


def test_nothing_comes_after_the_close() -> None:
    must_hold(SEEN.counter_edge(lambda e: not closes(e.source)))
    must_hold(
        SEEN.counter_state(lambda s: not closes(s) or isinstance(s.memory[-1], CloseResponse))
    )


def test_the_model_is_asked_once_and_not_before_the_context_is_known() -> None:
    def asked(state: Configuration) -> bool:
        known = state.name in ("generating", "speaking", "completed", "incomplete")
        return state.memory.count(Generate()) >= known and state.memory.count(Generate()) <= 1

    must_hold(SEEN.counter_state(asked))
    must_hold(
        SEEN.counter_edge(
            lambda e: (Generate() in e.effects) == (e.stimulus.event == "context_ready")
        )
    )


def test_it_can_be_cancelled_and_can_fail_until_it_is_over() -> None:
    for event, end in {"cancel": "cancelled", "fail": "failed"}.items():
        taken = {e.source.name: e.target.name for e in SEEN.edges if e.stimulus.event == event}
        assert taken == dict.fromkeys(("waiting", "generating", "speaking"), end)


@pytest.mark.parametrize("speech_left", [True, False])
@pytest.mark.parametrize("cut", [True, False])
def test_it_is_incomplete_exactly_when_the_token_limit_cut_it(
    *, speech_left: bool, cut: bool
) -> None:
    response = ResponseChart()
    response.send("context_ready")
    response.send("generated", speech_left=speech_left, cut=cut)
    assert (response.state_name == "speaking") == speech_left
    if speech_left:
        response.send("spoken")
    assert response.state_name == ("incomplete" if cut else "completed")
