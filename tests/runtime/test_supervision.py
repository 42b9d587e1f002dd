"""A repair is told from a crash loop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.runtime.supervision import RestartIntensity


def test_the_fourth_restart_within_a_minute_is_too_many() -> None:
    intensity = RestartIntensity()
    assert [intensity.allow(now_s) for now_s in (0, 10, 20, 59.9)] == [True, True, True, False]


def test_restarts_are_forgotten_one_by_one_as_they_leave_the_window() -> None:
    intensity = RestartIntensity()
    for now_s in (0, 10, 20):
        assert intensity.allow(now_s)
    assert intensity.allow(60)
    assert not intensity.allow(61)
    assert intensity.allow(70)


@given(st.lists(st.floats(0, 20), max_size=40))
def test_no_window_ever_holds_more_than_the_limit(gaps_s: list[float]) -> None:
    intensity = RestartIntensity(max_restarts=2, window_s=30)
    now_s = 0.0
    allowed_s: list[float] = []
    for gap_s in gaps_s:
        now_s += gap_s
        recent = [t for t in allowed_s if now_s - t < 30]
        assert intensity.allow(now_s) == (len(recent) < 2)
        if len(recent) < 2:
            allowed_s.append(now_s)
