"""The breaker of a backend: what opens it, and that it never stays open for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.breaker import (
    LAST_DOUBLING,
    ArmBackOff,
    ArmProbeDeadline,
    BreakerChart,
    DisarmDeadline,
    TurnAway,
)
from statecharts.catalogue import exploration
from tests.statecharts.paths import must_hold

if TYPE_CHECKING:
    from statecharts.walk import Configuration, Edge

SEEN = exploration("breaker")


def opened(limit: int = 3) -> BreakerChart:
    chart = BreakerChart(limit)
    for session in range(limit):
        chart.send("failed", session=session)
    chart.take_effects()
    return chart


def test_one_session_alone_never_opens_it_however_often_it_fails() -> None:
    chart = BreakerChart()
    for _ in range(100):
        assert chart.fire("failed", session="A") == []
    assert chart.state_name == "closed"


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_so_many_sessions_in_a_row_open_it(limit: int) -> None:
    chart = BreakerChart(limit)
    for session in range(limit - 1):
        assert chart.fire("failed", session=session) == []
    assert chart.fire("failed", session="last") == [ArmBackOff(0), TurnAway()]
    assert chart.state_name == "opened"


def test_a_session_in_which_it_works_begins_the_count_anew() -> None:
    chart = BreakerChart()
    for session in "ABCDEFGH":
        chart.send("failed", session=session)
        chart.send("failed", session=session + "'")
        chart.send("worked")
    assert chart.state_name == "closed"


def test_whoever_shows_that_it_works_closes_it() -> None:
    must_hold(
        SEEN.counter_edge(lambda e: e.stimulus.event != "worked" or e.target.name == "closed")
    )
    assert all(stimulus.event != "worked" for _, stimulus in SEEN.refused)


def test_nobody_comes_in_but_one_at_a_time_after_a_back_off() -> None:
    takers = {e.source.name for e in SEEN.edges if e.stimulus.event == "admit"}
    assert takers == {"half_open"}
    must_hold(
        SEEN.counter_edge(lambda e: e.stimulus.event != "admit" or e.target.name == "probing")
    )


def test_only_the_one_that_was_let_in_makes_room_by_leaving() -> None:
    def is_own(edge: Edge) -> bool:
        if edge.stimulus.event != "left":
            return True
        return dict(edge.stimulus.arguments)["session"] == dict(edge.source.data)["probe"]

    must_hold(SEEN.counter_edge(is_own))


def test_every_state_in_which_nobody_may_come_in_has_a_deadline_that_ends_it() -> None:
    def bounded(edge: Edge) -> bool:
        armed = any(isinstance(e, ArmBackOff | ArmProbeDeadline) for e in edge.effects)
        return armed == (edge.target.name in {"opened", "probing"})

    must_hold(SEEN.counter_edge(bounded))
    ended = {e.source.name: e.target.name for e in SEEN.edges if e.stimulus.event == "time_over"}
    assert ended == {"opened": "half_open", "probing": "half_open"}


def test_no_deadline_is_left_behind() -> None:
    def tidy(edge: Edge) -> bool:
        left = edge.source.name in {"opened", "probing"} and edge.stimulus.event != "time_over"
        goes_on = edge.target.name in {"opened", "probing"}
        return (DisarmDeadline() in edge.effects) == (left and not goes_on)

    must_hold(SEEN.counter_edge(tidy))


def test_whoever_waits_is_sent_away_each_time_it_opens() -> None:
    must_hold(SEEN.counter_edge(lambda e: (TurnAway() in e.effects) == (e.target.name == "opened")))


def test_the_back_off_doubles_with_each_failure_up_to_a_limit_and_is_forgotten() -> None:
    chart = opened()
    doublings = []
    for session in range(LAST_DOUBLING + 2):
        chart.send("time_over")
        chart.send("admit", session=session)
        chart.take_effects()
        [armed, _] = chart.fire("failed", session=session)
        assert isinstance(armed, ArmBackOff)
        doublings.append(armed.doublings)
    assert doublings == [*range(1, LAST_DOUBLING + 1), LAST_DOUBLING, LAST_DOUBLING]
    chart.send("worked")
    chart.take_effects()
    for name in "AB":
        chart.send("failed", session=name)
    assert chart.fire("failed", session="C") == [ArmBackOff(0), TurnAway()]


def test_what_it_remembers_is_bounded() -> None:
    def is_small(state: Configuration) -> bool:
        data = dict(state.data)
        failing = data["failing"]
        assert isinstance(failing, frozenset)
        return len(failing) < 3 and (state.name == "closed" or not failing)

    must_hold(SEEN.counter_state(is_small))


def test_a_failure_while_nobody_is_let_in_is_no_news() -> None:
    takers = {e.source.name for e in SEEN.edges if e.stimulus.event == "failed"}
    assert takers == {"closed", "probing"}
    chart = opened()
    for state in ("opened", "half_open"):
        assert chart.state_name == state
        with pytest.raises(BreakerChart.TransitionNotAllowed):
            chart.send("failed", session="late")
        if state == "opened":
            chart.send("time_over")
