"""The part of the page that shows crowds: their numbers, and how these grow with their size."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.crowd_words import HEADS, cells, verdicts
from s2s_actors.client.bench.svg import Plot, Span, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from s2s_actors.client.bench.crowd_point import CrowdPoint

__all__ = ["crowd_sections"]

_WIDTH: Final = 530
_HEIGHT: Final = 270


@dataclass(frozen=True, slots=True)
class _Chart:
    """A value over the number of sessions, and a second one that is drawn thinner.

    Attributes:
        title: What it shows.
        unit: Of the values.
        value: What is drawn, None where it isn't known.
        beside: Another value, None for a chart with one line.
    """

    title: str
    unit: str
    value: Callable[[CrowdPoint], float | None]
    beside: Callable[[CrowdPoint], float | None] = lambda _: None


_CHARTS: Final = (
    _Chart("CPU time of a session", "ms/s", lambda p: p.cpu_ms_per_session_s),
    _Chart("Processors that are busy", "cores", lambda p: p.usage.cores if p.usage else None),
    _Chart(
        "To speech_started, p99 (thin: median)",
        "ms",
        lambda p: p.started_ms.p99 if p.started_ms else None,
        lambda p: p.started_ms.p50 if p.started_ms else None,
    ),
    _Chart(
        "What an idle client waits, p99 (thin: median)",
        "ms",
        lambda p: p.updated_ms.p99 if p.updated_ms else None,
        lambda p: p.updated_ms.p50 if p.updated_ms else None,
    ),
    _Chart("Memory", "MB", lambda p: p.usage.rss_mb if p.usage else None),
    _Chart("Lateness of this client, p99", "ms", lambda p: p.late_ms.p99 if p.late_ms else None),
)


def crowd_sections(points: Sequence[CrowdPoint]) -> str:
    """All crowds; empty if there were none. Charts want two sizes at least."""
    if not points:
        return ""
    found: dict[str, list[CrowdPoint]] = {}
    for point in points:
        found.setdefault(point.server, []).append(point)
    charts = ""
    if len({point.sessions for point in points}) > 1:
        drawn = "".join(f"<div>{_chart(chart, found)}</div>" for chart in _CHARTS)
        charts = f'<div class="pair">{drawn}</div>'
    lines = "".join(f"<li>{escape(verdict)}</li>" for verdict in verdicts(points))
    return (
        '<section><h2>Sessions that are listened to</h2><div class="note">Times in ms. '
        f"A cross is a size that the server did not bear.</div>{_table(found)}"
        f"<ul>{lines}</ul>{charts}</section>"
    )


def _table(found: Mapping[str, Sequence[CrowdPoint]]) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
    lines = "".join(
        f'<tr><td><b class="{name}">{name}</b></td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells(point))
        + "</tr>"
        for name, points in found.items()
        for point in points
    )
    return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _chart(chart: _Chart, found: Mapping[str, Sequence[CrowdPoint]]) -> str:
    points = [point for of_server in found.values() for point in of_server]
    known = [each for p in points for each in (chart.value(p), chart.beside(p)) if each is not None]
    sizes, high = [point.sessions for point in points], max(known, default=0.0) * 1.08 or 1.0
    plot = Plot(
        _WIDTH,
        _HEIGHT,
        Span(0, 1.04 * max(sizes), 56, _WIDTH - 14),
        Span(0, high, _HEIGHT - 48, 44),
        chart.title,
    )
    plot.text(_WIDTH / 2, 16, chart.title, "label")
    plot.x_axis(ticks(0, 1.04 * max(sizes)), "sessions")
    plot.y_axis(ticks(0, high, about=5), chart.unit)
    for name, of_server in found.items():
        plot.path(_values(chart.beside, of_server), f"step thin {name}")
        plot.path(_values(chart.value, of_server), f"step {name}")
        for point in of_server:
            _mark(plot, chart, name, point)
    return plot.drawn()


def _values(
    value: Callable[[CrowdPoint], float | None], points: Sequence[CrowdPoint]
) -> list[tuple[float, float]]:
    found = ((point.sessions, value(point)) for point in points)
    return [(sessions, each) for sessions, each in found if each is not None]


def _mark(plot: Plot, chart: _Chart, name: str, point: CrowdPoint) -> None:
    value = chart.value(point)
    if value is None:
        return
    tip = f"{name}, {point.sessions} sessions: {value:.4g} {chart.unit}"
    if point.breaks:
        plot.cross(point.sessions, value, f"cross {name}", f"{tip} ({'; '.join(point.breaks)})")
    else:
        plot.dot(point.sessions, value, f"dot {name}", tip)
