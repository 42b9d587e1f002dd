"""A burst: when each of those at once begins, and what is read out of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s_actors.client.bench.burst import burst
from s2s_actors.client.bench.burst_figures import burst_figures
from s2s_actors.client.bench.clips import Clip
from s2s_actors.client.bench.names import figure_name, figures_of
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.rows import Place, TurnRow
from s2s_actors.client.bench.summary import summarise
from s2s_actors.client.bench.turn_trials import clip_for
from tests.client.bench.heard import a_turn

CLIPS = [Clip("long", b"", 100, 2000), Clip("short", b"", 0, 700), Clip("middling", b"", 0, 1300)]


def place(session: int, number: int = 0) -> Place:
    return Place(scenario="burst", server="A", session=session, number=number)


def answered(session: int, number: int, latency_ms: float | None) -> TurnRow:
    return replace(a_turn(0.0), place=place(session, number), latency_ms=latency_ms)


@pytest.mark.parametrize("stagger_s", [0.0, 1.3])
@pytest.mark.parametrize("number", [0, 1])
def test_questions_end_together_or_so_far_apart_as_asked_for(stagger_s: float, number: int) -> None:
    begins_s = burst(BenchOptions(stagger_s=stagger_s), CLIPS).begins_s
    assert begins_s is not None
    places = [place(session, number) for session in range(4)]
    ends_s = [begins_s(each) + clip_for(each, CLIPS).end_ms / 1000.0 for each in places]
    assert ends_s == pytest.approx([2.0 + session * stagger_s for session in range(4)])


def test_those_at_once_do_not_ask_the_same() -> None:
    assert len({clip_for(place(session), CLIPS).name for session in range(3)}) == 3


def test_the_slowest_of_each_round_is_told_from_the_quickest() -> None:
    rows = [answered(0, 0, 400), answered(1, 0, 900), answered(1, 1, 500), answered(0, 1, 800)]
    figures = burst_figures(rows)
    quickest, slowest = figures["latency_quickest_ms"], figures["latency_slowest_ms"]
    assert quickest is not None
    assert slowest is not None
    assert (quickest.least, quickest.most) == (400, 500)
    assert (slowest.least, slowest.most) == (800, 900)


def test_who_was_cut_off_is_neither_quick_nor_slow() -> None:
    figures = burst_figures([answered(0, 0, None), answered(1, 0, 900)])
    assert figures["latency_quickest_ms"] == figures["latency_slowest_ms"]
    assert figures["latency_place_1_ms"] is None


def test_places_are_named_by_their_number_and_stand_behind_the_slowest() -> None:
    summaries = summarise([answered(session, 0, 500.0 + session) for session in range(2)])
    keys = figures_of(summaries)
    first = keys.index("latency_place_1_ms")
    assert keys[first - 1 : first + 2] == [
        "latency_slowest_ms",
        "latency_place_1_ms",
        "latency_place_2_ms",
    ]
    assert figure_name(keys[first + 1]) == "… place 2 in the burst"


def test_plain_turns_have_no_places() -> None:
    (summary,) = summarise([a_turn(500.0)])
    assert not any("place" in key or "slowest" in key for key in summary.figures)
