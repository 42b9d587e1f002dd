"""A key gets what it may have, and no more."""

from __future__ import annotations

import pytest

from s2s_actors.actors.tally import Tally
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.server.keys import ApiKey, hash_of
from s2s_actors.server.limits import Limits, Visit


class Door:
    """Limits, and a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.tally = Tally()
        self.limits = Limits(self.clock.monotonic_s, self.tally)

    def codes(self, key: ApiKey, times: int) -> list[str | None]:
        denied = [self.limits.enter(key) for _ in range(times)]
        return [each.code if each else None for each in denied]


def key(name: str = "mine", **limits: int) -> ApiKey:
    return ApiKey(name, hash_of(name), **limits)


def test_without_limits_nothing_is_denied() -> None:
    door = Door()
    assert door.codes(key(), 100) == [None] * 100
    assert door.limits.heard(key(), 1e9) is None


def test_sessions_at_a_time_are_given_back_when_they_end() -> None:
    door, mine = Door(), key(max_sessions=2)
    assert door.codes(mine, 3) == [None, None, "session_limit_reached"]
    door.limits.leave(mine)
    assert door.codes(mine, 2) == [None, "session_limit_reached"]


def test_one_key_does_not_use_up_what_is_another_ones() -> None:
    door = Door()
    assert door.codes(key("a", max_sessions=1), 2) == [None, "session_limit_reached"]
    assert door.codes(key("b", max_sessions=1), 1) == [None]


def test_sessions_a_minute_count_any_minute_and_tell_when_to_come_back() -> None:
    door, mine = Door(), key(sessions_per_minute=2)
    door.limits.enter(mine)
    door.clock.advance(40)
    door.limits.enter(mine)
    denied = door.limits.enter(mine)
    assert denied is not None
    assert denied.code == "rate_limit_exceeded"
    assert denied.retry_after_s == pytest.approx(20)
    door.clock.advance(20)
    assert door.limits.enter(mine) is None
    assert door.limits.enter(mine) is not None


def test_who_is_denied_has_used_nothing() -> None:
    door, mine = Door(), key(sessions_per_minute=1)
    door.limits.enter(mine)
    for _ in range(10):
        door.clock.advance(5)
        assert door.limits.enter(mine) is not None
    door.clock.advance(10)
    assert door.limits.enter(mine) is None


def test_audio_of_any_hour_is_counted_and_what_is_over_is_denied() -> None:
    door, mine = Door(), key(audio_minutes_per_hour=1)
    for _ in range(60):
        assert door.limits.heard(mine, 1.0) is None
        door.clock.advance(1)
    denied = door.limits.heard(mine, 0.5)
    assert denied is not None
    assert denied.code == "rate_limit_exceeded"
    assert denied.retry_after_s == pytest.approx(3600 - 60)
    assert door.limits.enter(mine) is not None
    door.clock.advance(3600 - 60 + 1)
    assert door.limits.heard(mine, 1.0) is None


def test_what_is_remembered_does_not_grow_with_the_number_of_appends() -> None:
    door, mine = Door(), key(audio_minutes_per_hour=1000)
    for _ in range(5000):
        door.limits.heard(mine, 0.02)
        door.clock.advance(0.02)
    assert len(door.limits._uses["mine"].audio) <= 101


def test_a_key_that_uses_nothing_is_forgotten() -> None:
    door, mine = Door(), key(max_sessions=1)
    door.limits.enter(mine)
    door.limits.leave(mine)
    assert door.limits._uses == {}


def test_a_visit_gives_back_what_it_took_and_no_more_than_that() -> None:
    door, mine = Door(), key(max_sessions=2)
    stays, goes, denied = (Visit(door.limits, mine) for _ in range(3))
    assert [each.begin() is None for each in (stays, goes, denied)] == [True, True, False]
    for _ in range(3):
        goes.end()
        denied.end()
    assert door.codes(mine, 2) == [None, "session_limit_reached"]


def test_a_visit_without_a_key_counts_nothing() -> None:
    door = Door()
    visit = Visit(door.limits, None)
    assert visit.begin() is None
    assert visit.heard(1e9) is None
    visit.end()
    assert door.limits._uses == {}
