"""Rows are summed up."""

from __future__ import annotations

from dataclasses import replace

from s2s_actors.client.bench.figures import Count
from s2s_actors.client.bench.rows import Row
from s2s_actors.client.bench.summary import Summary, summarise
from tests.client.bench.heard import a_turn, place, rows_of_all_kinds


def of(summaries: list[Summary], scenario: str, server: str = "A") -> Summary:
    (found,) = (s for s in summaries if (s.scenario, s.server) == (scenario, server))
    return found


def test_there_is_one_summary_for_each_scenario_and_server() -> None:
    summaries = summarise(rows_of_all_kinds())
    assert [(s.scenario, s.server) for s in summaries] == [
        (scenario, server)
        for scenario in ("turns", "pauses", "barge-in", "backchannel", "noise")
        for server in ("A", "B")
    ]


def test_first_turns_are_told_from_later_ones() -> None:
    turns = of(
        summarise([a_turn(900, number=0), a_turn(500, number=1), a_turn(700, number=2)]), "turns"
    )
    assert turns.figures["latency_ms"].p50 == 700
    assert turns.figures["latency_first_turn_ms"].p50 == 900
    assert turns.figures["latency_later_turns_ms"].p50 == 600
    assert turns.counts["word_errors"] == Count(3, 30)


def test_a_warm_up_does_not_count() -> None:
    warm_up = replace(a_turn(9000), place=place(warm_up=True))
    turns = of(summarise([warm_up, a_turn(500, number=1)]), "turns")
    assert (turns.trials, turns.figures["latency_ms"].most) == (1, 500)


def test_a_failure_is_counted_by_its_reason_and_is_in_no_figure() -> None:
    failed = replace(a_turn(9000, number=1), problem="no unit")
    turns = of(summarise([a_turn(500), failed, failed]), "turns")
    assert turns.failures == {"no unit": 2}
    assert (turns.trials, turns.figures["latency_ms"].n, turns.measured) == (3, 1, True)


def test_a_scenario_in_which_all_failed_was_not_measured() -> None:
    row = Row(place=place("noise"), stimulus="", at_s=0.0, problem="no unit")
    assert not of(summarise([row]), "noise").measured


def test_pauses_are_counted_by_their_length() -> None:
    pauses = of(summarise(rows_of_all_kinds()), "pauses")
    assert pauses.counts["cut_off"] == Count(4, 6)
    assert pauses.counts["cut_off_pause_300"] == Count(0, 2)
    assert pauses.counts["cut_off_pause_700"] == Count(2, 2)
    assert pauses.figures["latency_ms"].n == 2
    assert pauses.figures["recovery_ms"].p50 == 900


def test_small_sounds_are_counted_by_kind() -> None:
    small = of(summarise(rows_of_all_kinds()), "backchannel")
    assert small.counts["interrupted_by_words"] == Count(1, 1)
    assert small.counts["interrupted_by_sounds"] == Count(0, 1)
    assert small.counts["resumed"] == Count(0, 1)


def test_a_noise_that_is_answered_was_taken_for_speech() -> None:
    noise = of(summarise(rows_of_all_kinds()), "noise")
    assert noise.counts["fell_for_noise"] == Count(1, 2)
