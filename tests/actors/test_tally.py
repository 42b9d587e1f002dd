"""What happens is counted once, and never taken back."""

from __future__ import annotations

import pytest

from s2s_actors.actors.tally import TURN_BOUNDS_S, Tally


def test_each_name_has_a_count_of_its_own() -> None:
    tally = Tally()
    for code in ("server_starting", "server_starting", "session_limit_reached"):
        tally.refused(code)
    tally.response_ended("failed")
    tally.stage_replaced("tts")
    tally.stage_failed("llm")
    tally.client_cut("not_reading")
    tally.event_dropped()
    tally.event_dropped()
    seen = tally.read()
    assert seen.refused == {"server_starting": 2, "session_limit_reached": 1}
    assert seen.responses == {"failed": 1}
    assert seen.stages_replaced == {"tts": 1}
    assert seen.stages_failed == {"llm": 1}
    assert seen.clients_cut == {"not_reading": 1}
    assert seen.events_dropped == 2


def test_what_was_read_does_not_change_any_more() -> None:
    tally = Tally()
    before = tally.read()
    tally.refused("server_starting")
    tally.turn_over(0.2)
    assert (before.refused, sum(before.turns_by_wait)) == ({}, 0)


@pytest.mark.parametrize(
    ("waited_s", "step"),
    [(0.0, 0), (0.1, 0), (0.1001, 1), (TURN_BOUNDS_S[-1], -2), (TURN_BOUNDS_S[-1] + 0.1, -1)],
)
def test_a_wait_lies_in_the_first_step_that_it_does_not_exceed(waited_s: float, step: int) -> None:
    tally = Tally()
    tally.turn_over(waited_s)
    seen = tally.read()
    assert seen.turns_by_wait[step] == 1
    assert (sum(seen.turns_by_wait), seen.turns_waited_s) == (1, waited_s)


def test_a_turn_without_an_answer_has_no_wait() -> None:
    tally = Tally()
    tally.turn_over(None)
    seen = tally.read()
    assert (seen.turns_unanswered, sum(seen.turns_by_wait)) == (1, 0)
