"""The life of a connection: what was granted is given back once, before anyone waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecharts.catalogue import ENTRIES
from statecharts.connection import (
    AbortTransport,
    ConnectionChart,
    EndSession,
    SendClose,
    SendRefusal,
)
from statecharts.explore import explore
from tests.statecharts.paths import PATHS, must_hold, whole_log

if TYPE_CHECKING:
    from statecharts.walk import Configuration

SEEN = explore(ConnectionChart, ENTRIES["connection"].stimuli, watch=whole_log, bound=PATHS)


def test_every_configuration_can_reach_closed() -> None:
    assert SEEN.can_reach("closed")


def test_a_granted_lease_is_given_back_exactly_once_on_every_way_to_closed() -> None:
    def given_back(state: Configuration) -> bool:
        owed = int("granted" in state.memory)
        returned = state.memory.count(EndSession())
        return returned == owed if state.name == "closed" else returned <= owed

    must_hold(SEEN.counter_state(given_back))


def test_a_lease_is_given_back_before_anything_waits_for_the_peer() -> None:
    def lease_first(state: Configuration) -> bool:
        if "granted" not in state.memory:
            return True
        waits = [e for e in state.memory if e in (EndSession(), SendClose(), AbortTransport())]
        return waits[:1] in ([], [EndSession()])

    must_hold(SEEN.counter_state(lease_first))


def test_a_connection_that_is_closing_owes_no_lease() -> None:
    def paid(state: Configuration) -> bool:
        return state.name != "closing" or state.memory.count(EndSession()) == state.memory.count(
            "granted"
        )

    must_hold(SEEN.counter_state(paid))


def test_a_refused_client_is_told_why_before_the_close() -> None:
    def told(state: Configuration) -> bool:
        if "refused" not in state.memory:
            return SendRefusal() not in state.memory
        at = state.memory.index("refused")
        return state.memory[at + 1 : at + 3] == (SendRefusal(), SendClose())

    must_hold(SEEN.counter_state(told))


def test_a_peer_that_does_not_read_is_dropped_and_no_other() -> None:
    must_hold(
        SEEN.counter_state(
            lambda s: s.memory.count("unresponsive") == s.memory.count(AbortTransport())
        )
    )


def test_at_most_one_close_frame_is_sent() -> None:
    must_hold(SEEN.counter_state(lambda s: s.memory.count(SendClose()) <= 1))
