"""The life of the server: it never takes a session again once it has begun to drain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.server import (
    ArmShutdownDeadline,
    EndSessions,
    RefuseWaiting,
    ReportStopped,
    ServerChart,
)
from tests.statecharts.paths import PATHS, must_hold, whole_log

if TYPE_CHECKING:
    from statecharts.walk import Configuration

SEEN = explore(ServerChart, ENTRIES["server"].stimuli, watch=whole_log, bound=PATHS)


def test_every_configuration_can_reach_stopped() -> None:
    assert SEEN.can_reach("stopped")


def test_it_never_serves_again_once_it_has_begun_to_drain() -> None:
    must_hold(SEEN.counter_state(lambda s: s.name != "serving" or "drain" not in s.memory))


def test_it_serves_only_after_it_is_ready() -> None:
    must_hold(SEEN.counter_state(lambda s: s.name != "serving" or s.memory == ("ready",)))


def test_whoever_waits_is_sent_away_when_the_drain_begins() -> None:
    def sent_away(state: Configuration) -> bool:
        if "drain" not in state.memory:
            return RefuseWaiting() not in state.memory
        at = state.memory.index("drain")
        return (
            state.memory[at + 1 : at + 3] == (RefuseWaiting(), ArmShutdownDeadline())
            and state.memory.count(RefuseWaiting()) == 1
        )

    must_hold(SEEN.counter_state(sent_away))


def test_sessions_are_ended_by_force_only_after_their_time() -> None:
    def had_time(state: Configuration) -> bool:
        if EndSessions() not in state.memory:
            return True
        return "deadline" in state.memory[: state.memory.index(EndSessions())]

    must_hold(SEEN.counter_state(had_time))


def test_a_deadline_can_do_its_work_wherever_it_was_armed() -> None:
    fires = {edge.source for edge in SEEN.edges if edge.stimulus.event == "deadline"}
    must_hold(
        SEEN.counter_edge(lambda e: ArmShutdownDeadline() not in e.effects or e.target in fires)
    )


def test_deadlines_alone_stop_a_server_whose_sessions_never_end() -> None:
    server = ServerChart()
    for event in ("ready", "drain", "deadline", "deadline"):
        server.send(event)
    assert server.state_name == "stopped"


def test_the_end_is_reported_exactly_once() -> None:
    must_hold(
        SEEN.counter_state(lambda s: s.memory.count(ReportStopped()) == (s.name == "stopped"))
    )


@pytest.mark.parametrize("events", [[], ["ready"]])
def test_it_can_be_drained_from_its_first_moment(events: list[str]) -> None:
    server = ServerChart()
    for event in [*events, "drain"]:
        server.send(event)
    assert server.state_name == "draining"
