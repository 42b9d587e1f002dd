"""The report says everything, fits any width, and is plain where there is no terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from s2s_actors.client.console import open_console
from s2s_actors.client.record import Event, Record
from s2s_actors.client.report import show_report
from tests.support.events import answered, heard, one_turn, transcribed


def report_of(record: Record, *, width: int = 120, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    console = Console(file=stream, width=width, highlight=False, markup=False)
    show_report(console, record)
    return raw.getvalue().decode(encoding)


def test_it_shows_what_was_heard_and_answered() -> None:
    report = report_of(one_turn())
    assert re.search(r"heard +What is the capital of France\?", report)
    assert re.search(r"answered +The capital of France is Paris\. +\(1\.8 s of audio\)", report)


def test_it_shows_every_event_with_its_time() -> None:
    report = report_of(one_turn())
    for event in one_turn().events:
        assert event.type in report
    assert re.search(r"1710 → 1910 +response\.output_audio_transcript\.delta × 3", report)  # noqa: RUF001
    assert re.search(r"-40 +session\.created +local", report)


def test_it_shows_a_waterfall_whose_intervals_add_up() -> None:
    report = report_of(one_turn())
    intervals = [int(ms) for ms in re.findall(r"\+(\d+) ms", report)]
    assert intervals == [500, 100, 110, 300, 100]
    assert re.search(rf"total +{sum(intervals)} ms", report)
    assert "1010 ms from voice to voice" in report


def test_each_turn_has_its_waterfall() -> None:
    record = Record(
        [
            *heard(1, 0, 1000),
            transcribed(1, 1100, "one"),
            *answered(1, 1100, ["1"]),
            *heard(2, 2000, 3000),
            *answered(2, 3100, ["2"]),
        ],
        speech_ms=[(0, 500), (2000, 2500)],
    )
    report = report_of(record)
    assert "Waterfall of turn 1" in report
    assert "Waterfall of turn 2" in report
    assert re.search(r"transcript +missing", report)


def test_problems_and_error_events_are_shown() -> None:
    error = Event(5.0, "error", {"error": {"code": "invalid_value", "message": "no"}})
    report = report_of(Record([error], gave_up_after_s=1.0))
    assert "invalid_value: no" in report
    assert "problem: the server heard nothing within 1 s" in report


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = report_of(one_turn(), width=width).splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_long_answer_does_not_push_the_events_away(width: int) -> None:
    record = Record([*heard(1, 0, 1000), *answered(1, 1100, ["word "] * 200)])
    lines = report_of(record, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any(re.match(r" +1000 +input_audio_buffer\.committed$", line) for line in lines)
    assert any("response.output_audio_transcript.delta" in line for line in lines)


def test_plain_text_has_no_colour_and_no_trailing_space() -> None:
    report = report_of(one_turn())
    assert "\x1b" not in report
    assert [line for line in report.splitlines() if line != line.rstrip()] == []


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert report_of(one_turn(), encoding="ascii").isascii()
    assert "?" not in report_of(one_turn(), encoding="ascii").replace("France?", "")


def test_text_from_the_server_is_not_taken_for_markup() -> None:
    record = Record([*heard(1, 0, 10), transcribed(1, 20, "[red]a[/red]\x1b[2J")])
    report = report_of(record)
    assert "[red]a[/red] [2J" in report
    assert "\x1b" not in report


def test_a_file_is_wide_and_a_set_width_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert open_console(io.StringIO()).width == 120
    monkeypatch.setenv("COLUMNS", "70")
    assert open_console(io.StringIO()).width == 70
