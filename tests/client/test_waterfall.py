"""Intervals add up whatever the order of events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.client.waterfall import STAGES, Stage, Step, waterfall

times = st.one_of(st.none(), st.floats(-1e6, 1e7, allow_nan=False))


def test_stages_in_usual_order_show_their_intervals() -> None:
    fall = waterfall(dict(zip(STAGES, [1000, 1500.2, 1600, 1700, 1800, 2000.4], strict=True)))
    assert [step.interval_ms for step in fall.steps] == [0, 500, 100, 100, 100, 200]
    assert fall.total_ms == 1000
    assert fall.missing == ()


def test_a_transcript_that_comes_after_the_first_token_takes_its_place_in_time() -> None:
    fall = waterfall({"end of speech": 0.0, "transcript": 300.0, "first token": 200.0})
    assert fall.steps == (
        Step("end of speech", 0, 0),
        Step("first token", 200, 200),
        Step("transcript", 300, 100),
    )


def test_a_stage_that_was_not_reached_is_missing() -> None:
    fall = waterfall({"end of speech": 0.0, "response.done": 10.0, "transcript": None})
    assert fall.missing == ("speech_stopped", "transcript", "first token", "first audio")
    assert fall.at_ms("transcript") is None
    assert fall.at_ms("response.done") == 10


def test_nothing_makes_an_empty_waterfall() -> None:
    fall = waterfall({})
    assert fall.steps == ()
    assert fall.total_ms == 0
    assert fall.missing == STAGES


@given(st.dictionaries(st.sampled_from(STAGES), times))
def test_intervals_are_never_negative_and_add_up(times_ms: dict[Stage, float | None]) -> None:
    fall = waterfall(times_ms)
    reached = {stage for stage, at in times_ms.items() if at is not None}
    assert [step.stage for step in fall.steps if step.interval_ms < 0] == []
    assert sum(step.interval_ms for step in fall.steps) == fall.total_ms
    assert {step.stage for step in fall.steps} == reached
    assert len(fall.steps) == len(reached)
    assert set(fall.missing) == set(STAGES) - reached
    exact_ms = [times_ms[step.stage] for step in fall.steps]
    assert exact_ms == sorted(at for at in exact_ms if at is not None)
    running_ms = 0
    for step in fall.steps:
        running_ms += step.interval_ms
        assert step.at_ms == running_ms
