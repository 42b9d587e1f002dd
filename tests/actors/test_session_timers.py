"""Timers of a session: moved, disarmed, stale, and gone with the session."""

from __future__ import annotations

import pytest

from s2s_actors.actors.lease import Lease
from s2s_actors.actors.messages import TimerFired
from s2s_actors.actors.session_timers import SessionTimers
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock

LEASE = Lease(0, "sess_1", 1)


class Owner:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[TimerFired] = []

    def put(self, message: object) -> None:
        assert isinstance(message, TimerFired)
        self.told.append(message)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def owner() -> Owner:
    return Owner()


def test_a_timer_that_has_come_counts_once(clock: ManualClock, owner: Owner) -> None:
    timers = SessionTimers(clock, owner, LEASE, CancelToken())
    timers.arm("idle", 5.0)
    clock.advance(5.0)

    (fired,) = owner.told
    assert (fired.lease, fired.name) == (LEASE, "idle")
    assert timers.take(fired)
    assert not timers.take(fired)


def test_a_timer_that_was_moved_or_disarmed_does_not_count(
    clock: ManualClock, owner: Owner
) -> None:
    timers = SessionTimers(clock, owner, LEASE, CancelToken())
    timers.arm("idle", 5.0)
    clock.advance(5.0)
    timers.arm("idle", 5.0)
    assert not timers.take(owner.told[0])
    clock.advance(5.0)
    timers.disarm("idle")
    timers.disarm("other")
    assert not timers.take(owner.told[1])


def test_no_timer_outlives_the_session(clock: ManualClock, owner: Owner) -> None:
    scope = CancelToken()
    timers = SessionTimers(clock, owner, LEASE, scope)
    timers.arm("idle", 5.0)
    scope.cancel()
    timers.arm("session", 5.0)
    clock.advance(10.0)

    assert owner.told == []
