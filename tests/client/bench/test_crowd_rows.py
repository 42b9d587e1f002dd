"""What the sessions of a crowd saw is read, and a server is judged by it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from s2s_actors.client.bench.crowd_page import crowd_sections
from s2s_actors.client.bench.crowd_plan import (
    DONE,
    STARTED,
    STOPPED,
    TRANSCRIBED,
    Said,
    SessionLog,
)
from s2s_actors.client.bench.crowd_point import CrowdPoint, judged, with_rows
from s2s_actors.client.bench.crowd_rows import CrowdRow, CrowdTurn, crowd_figures, crowd_row
from s2s_actors.client.bench.crowd_words import HEADS, cells, verdicts
from s2s_actors.client.bench.figures import Count, Figure
from s2s_actors.client.bench.process_usage import Usage
from tests.client.bench.heard import place


def row_of(events: list[tuple[float, str]], *said: Said, closed: str = "") -> CrowdRow:
    log = SessionLog(said=list(said), events=events, closed=closed)
    return crowd_row(log, ["question"], place("crowd"), 0.0)


def turn(at_s: float) -> list[tuple[float, str]]:
    """Events of a turn whose speech lies from ``at_s`` to a second later."""
    after = ((0.1, STARTED), (1.5, STOPPED), (1.6, TRANSCRIBED), (1.7, DONE))
    return [(at_s + later, kind) for later, kind in after]


def test_delays_count_from_when_onset_and_end_left() -> None:
    (made,) = row_of(turn(2.0), Said(0, 1.9, 2.0, 3.0)).turns
    assert made.is_whole
    assert made.started_ms == pytest.approx(100)
    assert made.stopped_ms == pytest.approx(500)
    assert made.transcript_ms == pytest.approx(600)
    assert made.done_ms == pytest.approx(700)


def test_events_belong_to_the_utterance_before_them() -> None:
    row = row_of([*turn(2.0)[:1], *turn(12.0)], Said(0, 1.9, 2.0, 3.0), Said(0, 11.9, 12.0, 13.0))
    first, second = row.turns
    assert (first.is_whole, second.is_whole) == (False, True)
    assert first.started_ms == pytest.approx(100)
    assert (first.stopped_ms, first.done_ms) == (None, None)


def test_a_start_in_silence_is_a_false_one_but_a_late_one_is_not() -> None:
    assert row_of([(1.0, STARTED), *turn(2.0)], Said(0, 1.9, 2.0, 3.0)).false_starts == 1
    assert row_of([*turn(2.0), (8.0, STARTED)], Said(0, 1.9, 2.0, 3.0)).false_starts == 1
    late = row_of([(4.0, STARTED)], Said(0, 1.9, 2.0, 3.0))
    assert late.false_starts == 0
    assert late.turns[0].started_ms == pytest.approx(2000)
    assert row_of([(1.0, STARTED), (2.0, STARTED)]).false_starts == 2


def test_a_second_start_within_the_speech_is_none_that_is_false() -> None:
    split = [(2.1, STARTED), (2.4, STOPPED), (2.6, STARTED), (3.5, STOPPED), (3.6, DONE)]
    row = row_of(split, Said(0, 1.9, 2.0, 3.0))
    assert row.false_starts == 0
    assert row.turns[0].stopped_ms == pytest.approx(500)


def test_a_turn_that_ended_too_soon_has_a_negative_end() -> None:
    row = row_of([(2.1, STARTED), (2.4, STOPPED)], Said(0, 1.9, 2.0, 3.0))
    assert row.turns[0].stopped_ms == pytest.approx(-600)


def test_a_breath_that_is_noticed_is_a_start_before_its_time_and_not_a_false_one() -> None:
    row = row_of([(1.95, STARTED), *turn(2.0)[1:]], Said(0, 1.9, 2.0, 3.0))
    assert row.false_starts == 0
    assert row.turns[0].started_ms == pytest.approx(-50)


def test_speech_whose_onset_never_left_was_not_said() -> None:
    assert row_of([], Said(0, 1.9)).turns == ()


def test_figures_and_counts_are_of_turns_and_of_sessions() -> None:
    good = row_of(turn(2.0), Said(0, 1.9, 2.0, 3.0))
    bad = row_of([(2.3, STARTED)], Said(0, 1.9, 2.0, 3.0), closed="1011 sorry")
    figures, counts = crowd_figures([good, bad])
    assert figures["started_ms"] is not None
    assert figures["started_ms"].most == pytest.approx(300)
    assert counts["turns_started"] == Count(2, 2)
    assert counts["turns_done"] == Count(1, 2)
    assert counts["was_closed"] == Count(1, 2)
    assert crowd_figures([]) == ({}, {})


def figure(p50: float, p99: float) -> Figure:
    return Figure(200, p50, p50, p99, p50, p99)


def a_point(sessions: int = 10) -> CrowdPoint:
    return CrowdPoint(
        scenario=f"crowd of {sessions}",
        server="A",
        sessions=sessions,
        piece_ms=20,
        talking_percent=5.0,
        opened=sessions,
        said=20,
        started_ms=figure(110, 150),
        alone_started_ms=figure(100, 130),
        started_later_ms=50.0,
        updated_ms=figure(1, 9),
        late_ms=figure(0.5, 2.0),
        client_cores=0.1,
        usage=Usage(seconds=10.0, cores=0.5, machine_cores=0.7, rss_mb=400.0, threads=77),
    )


def test_the_cost_of_a_session_is_the_servers_time_by_those_that_are_open() -> None:
    assert judged(a_point()).cpu_ms_per_session_s == pytest.approx(50.0)
    assert judged(replace(a_point(), usage=None)).cpu_ms_per_session_s is None
    assert judged(replace(a_point(), opened=0)).cpu_ms_per_session_s is None


def test_a_server_that_bears_all_holds() -> None:
    assert judged(a_point()).breaks == ()
    assert list(verdicts([judged(a_point())])) == ["10 sessions on A: holds"]


def test_who_else_kept_the_machine_busy_is_told() -> None:
    usage = Usage(seconds=10.0, cores=0.5, machine_cores=1.9, rss_mb=400.0, threads=77)
    (verdict,) = verdicts([judged(replace(a_point(), usage=usage))])
    assert verdict == "10 sessions on A: holds (others kept 1.3 cores busy)"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"missed": 1}, "1 of 20 turns missed"),
        ({"errors": {"input_backpressure": 3}}, "3 x input_backpressure"),
        ({"started_later_ms": 101.0}, "101 ms later than alone"),
        ({"updated_ms": figure(1, 101)}, "idle client waits 101 ms"),
        ({"late_ms": figure(1, 21)}, "no measurement: this client was late"),
    ],
)
def test_each_thing_that_does_not_hold_is_said(change: dict[str, object], why: str) -> None:
    (breaks,) = judged(replace(a_point(), **change)).breaks  # type: ignore[arg-type]
    assert why in breaks


def a_row(started_ms: float | None, **fields: object) -> CrowdRow:
    made = CrowdTurn(
        stimulus="question", started_ms=started_ms, stopped_ms=1.0, transcript_ms=2.0, done_ms=3.0
    )
    return CrowdRow(place=place("crowd"), stimulus="", at_s=0.0, turns=(made,), **fields)  # type: ignore[arg-type]


def test_the_slowest_of_the_crowd_are_set_against_the_middle_of_one_alone() -> None:
    alone = [a_row(each) for each in (90.0, 100.0, 500.0)]
    point = with_rows(a_point(), [a_row(120.0), a_row(180.0), a_row(None)], alone)
    assert (point.said, point.missed) == (3, 1)
    assert point.started_later_ms == pytest.approx(80.0, abs=1.0)


def test_what_sessions_complain_of_is_counted_by_its_reason() -> None:
    rows = [
        a_row(1.0, errors=("input_backpressure", "input_backpressure")),
        a_row(1.0, closed="1011 sorry"),
        a_row(1.0, problem="no unit"),
    ]
    point = with_rows(a_point(), rows, [])
    assert point.opened == 2
    assert point.errors == {
        "input_backpressure": 2,
        "closed: 1011 sorry": 1,
        "no session: no unit": 1,
    }


def test_every_heading_has_its_cell_and_what_is_unknown_is_a_question_mark() -> None:
    blank = CrowdPoint(scenario="x", server="A", sessions=3, piece_ms=20, talking_percent=0.0)
    assert len(cells(a_point())) == len(cells(blank)) == len(HEADS)
    assert cells(blank).count("?") == 10
    assert cells(judged(a_point()))[:5] == ("10", "0.50", "50.00", "400", "77")


def test_a_sweep_is_drawn_and_a_single_size_is_not() -> None:
    points = [judged(a_point(n)) for n in (1, 25, 50)]
    points.append(judged(replace(a_point(100), missed=4, updated_ms=None)))
    drawings = crowd_sections(points).split("<svg")[1:]
    assert len(drawings) == 6
    for drawing in drawings:
        root = ET.fromstring("<svg" + drawing.split("</svg>")[0] + "</svg>")  # noqa: S314 - ours
        assert len(list(root.iter("circle"))) == 3
    assert crowd_sections(points).count("4 of 20 turns missed)") == 5
    assert "<svg" not in crowd_sections(points[:1])
    assert crowd_sections([]) == ""
