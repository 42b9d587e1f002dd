"""The result as JSON, as a page and in the terminal."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from s2s_actors.client.bench.figures import Figure, Ratio
from s2s_actors.client.bench.names import COUNTS, FIGURES
from s2s_actors.client.bench.page import as_html
from s2s_actors.client.bench.result import as_json, write_text
from s2s_actors.client.bench.svg import Span, ticks
from s2s_actors.client.bench.table import percentiles, show_result
from s2s_actors.errors import SetupError
from tests.client.bench.heard import a_result, a_turn, rows_of_all_kinds

if TYPE_CHECKING:
    from pathlib import Path

VOID: Final = {"meta"}


class _Tags(HTMLParser):
    """Fails on tags that do not match, and keeps what could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [str(value) for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_sound_and_loads_nothing() -> None:
    page = as_html(a_result())
    tags = _Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    assert tags.links == []
    assert not tags.seen & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"@import|url\(|https?://", page)


def test_every_drawing_is_well_formed_and_lies_in_its_frame() -> None:
    drawings = re.findall(r"<svg.*?</svg>", as_html(a_result()), re.DOTALL)
    assert len(drawings) == 5
    for drawing in drawings:
        root = ET.fromstring(drawing)  # noqa: S314 - we have just made it
        _, _, width, height = (float(n) for n in root.attrib["viewBox"].split())
        for text in root.iter("text"):
            assert 0 <= float(text.attrib["x"]) <= width
            assert 0 <= float(text.attrib["y"]) <= height


def test_the_page_shows_the_figures() -> None:
    page = as_html(a_result())
    for shown in ("738 <small>ms", "p50 738, p90 769, n 12", "4 of 6", "server_vad, 200 ms"):
        assert shown in page
    assert '<td>1</td><td>2</td><td>31</td><td class="n">100</td>' in page  # the idle client
    assert "no unit" in page
    assert "4 units, 3 idle, 1 draining, 2 stages replaced" in page


def test_what_a_server_says_can_not_break_the_page() -> None:
    page = as_html(a_result())
    assert "failed: &lt;no&gt; unit" in page
    assert "<no>" not in page


def test_a_page_without_any_answer_can_be_drawn() -> None:
    failed = replace(a_turn(1), latency_ms=None, first_audio_ms=None, cut_off=True)
    assert "no turn was answered in time" in as_html(a_result([failed]))
    assert "<svg" not in as_html(a_result([]))


def test_the_json_has_the_documented_keys_and_every_row() -> None:
    data = json.loads(as_json(a_result()))
    assert set(data) == {
        *("format", "made_at", "options", "machine", "servers", "pools"),
        *("summaries", "probes", "rows", "crowds"),
    }
    assert data["format"] == 1
    assert data["options"]["command"] == "s2s-actors bench --window 200"
    assert len(data["rows"]) == len(rows_of_all_kinds())
    turns = data["summaries"][0]
    assert (turns["scenario"], turns["server"], turns["trials"]) == ("turns", "A", 13)
    assert set(turns["figures"]["latency_ms"]) == {"n", "p50", "p90", "p99", "least", "most"}
    assert turns["failures"] == {"<no> unit": 1}
    assert data["rows"][0]["place"]["server"] == "A"


def test_every_figure_and_count_has_a_name_for_people() -> None:
    for summary in a_result().summaries:
        assert set(summary.figures) <= set(FIGURES)
        assert set(summary.counts) <= set(COUNTS)


def test_the_terminal_shows_figures_failures_and_idle_clients() -> None:
    stream = io.StringIO()
    show_result(Console(file=stream, width=120), a_result())
    shown = stream.getvalue()
    assert re.search(r"voice to voice +738 +769 +\(776\) +777 +12", shown)
    assert re.search(r"word errors +10\.0 % +12 of 120", shown)
    assert "13 trials, 1 failed" in shown
    assert re.search(r"<no> unit +1 of 13", shown)
    assert "idle client on A during turns: session.updated after 1, p90 2, p99 31, n 100" in shown


def test_a_ratio_to_one_alone_is_shown_in_the_terminal_and_on_the_page() -> None:
    result = a_result()
    first = replace(result.summaries[0], ratios={"latency_to_alone": Ratio(1.25, 1.5)})
    result = replace(result, summaries=[first, *result.summaries[1:]])
    stream = io.StringIO()
    show_result(Console(file=stream, width=120), result)
    assert re.search(r"to that of one alone +1\.25 x +1\.50 x", stream.getvalue())
    assert "<td>1.25 x</td><td>1.50 x</td>" in as_html(result)


def test_a_percentile_of_too_few_values_stands_in_brackets() -> None:
    assert percentiles(Figure(9, 1, 2, 3, 0, 4)) == ("1", "(2)", "(3)")
    assert percentiles(Figure(2, 1, 2, 3, 0, 4)) == ("(1)", "(2)", "(3)")
    assert percentiles(Figure(100, 1, 2, 3, 0, 4)) == ("1", "2", "3")


def test_small_times_are_shown_to_a_tenth() -> None:
    assert percentiles(Figure(100, 0.26, 9.94, 10.4, 0, 4)) == ("0.3", "9.9", "10")


def test_a_report_makes_its_folder_and_names_a_place_that_cant_be_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "bench.json"
    write_text(path, "{}\n")
    assert path.read_text(encoding="utf-8") == "{}\n"
    with pytest.raises(SetupError, match="can't write"):
        write_text(path / "below", "")


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (-30, 95, [-20, 0, 20, 40, 60, 80]),
        (0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round(low: float, high: float, wanted: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(wanted)


def test_a_span_goes_either_way() -> None:
    assert Span(10, 20, 100, 0).at(12.5) == 75
