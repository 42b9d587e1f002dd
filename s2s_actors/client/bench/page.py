"""The result as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.charts import (
    STAGE_CLASSES,
    cut_off_bars,
    latency_spread,
    over_time,
    stage_bars,
)
from s2s_actors.client.bench.crowd_page import crowd_sections
from s2s_actors.client.bench.figures import figure_of
from s2s_actors.client.bench.page_tables import environment, scenario_table, small_sound_table
from s2s_actors.client.bench.page_tiles import tiles
from s2s_actors.client.bench.rows import TurnRow
from s2s_actors.client.bench.style import STYLE
from s2s_actors.client.bench.table import percentiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from s2s_actors.client.bench.result import Result

__all__ = ["as_html"]

_TITLES: Final = {
    "turns": "plain questions",
    "pauses": "sentences with a pause",
    "burst": "a burst",
    "conversation": "conversations",
    "conversation, alone": "one conversation alone",
    "soak": "the soak",
}


def as_html(result: Result) -> str:
    """The whole page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>s2s-actors bench, {escape(result.made_at[:10])}</title>"
        f"<style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(_parts(result))
        + "\n</main></body></html>\n"
    )


def _parts(result: Result) -> Iterator[str]:
    yield _heading(result)
    yield tiles(result)
    for scenario in dict.fromkeys(summary.scenario for summary in result.summaries):
        rows = _turn_rows(result, scenario)
        if any(rows.values()):
            yield from _turn_charts(scenario, rows)
    yield crowd_sections(result.crowds)
    sounds = "".join(small_sound_table(result, name) for name in ("backchannel", "noise"))
    yield f'<div class="pair">{sounds}</div>'
    yield scenario_table(result)
    yield environment(result)


def _heading(result: Result) -> str:
    servers = " &nbsp; ".join(
        f'<b class="{server.name}">{server.name}</b> {escape(server.url)}'
        for server in result.servers
    )
    options = result.options
    ends: str = options.turn_detection
    if options.window_ms is not None:
        ends += f", {options.window_ms} ms"
    if options.eagerness is not None:
        ends += f", eagerness {options.eagerness}"
    sizes = options.sweep or (options.sessions,)
    sessions = f"{', '.join(map(str, sizes))} session{'s' if sizes[-1] > 1 else ''} at once"
    return (
        f"<header><h1>How it feels to talk to it</h1><p>{servers}</p>"
        f'<p class="soft">{escape(result.made_at)} · {sessions} · turns end by {escape(ends)}</p>'
        "</header>"
    )


def _turn_charts(scenario: str, rows: Mapping[str, Sequence[TurnRow]]) -> Iterator[str]:
    of = _TITLES.get(scenario, scenario)
    has_pauses = any(turn.pause_ms for turns in rows.values() for turn in turns)
    second = (
        _section(
            f"Cut off in a pause, {of}",
            "Share of sentences that were committed or answered before their end.",
            cut_off_bars(rows),
            "".join(f'<span><i class="{name}"></i>{name}</span>' for name in rows),
        )
        if has_pauses
        else _section(
            f"Where the time goes, {of}",
            "Each stage in a turn that was not cut off; medians.",
            stage_bars(rows),
            _stage_legend(),
        )
    )
    first = _section(
        f"Voice to voice, {of}",
        "Share of answers that had begun. Steep and to the left is good.",
        latency_spread(rows),
        _server_legend(rows),
    )
    yield f'<div class="pair">{first}{second}</div>'
    if not has_pauses:
        yield _section(
            f"Turn by turn, {of}",
            "A ring is the first turn of a session, a cross a turn that was cut off.",
            over_time(rows),
            _server_legend(rows),
        )


def _section(title: str, note: str, drawing: str, legend: str) -> str:
    return (
        f'<section><h2>{escape(title)}</h2><div class="note">{escape(note)}</div>'
        f'{drawing}<div class="legend">{legend}</div></section>'
    )


def _server_legend(rows: Mapping[str, Sequence[TurnRow]]) -> str:
    return "".join(f"<span>{_server_line(name, turns)}</span>" for name, turns in rows.items())


def _server_line(name: str, turns: Sequence[TurnRow]) -> str:
    figure = figure_of(turn.latency_ms for turn in turns)
    cut_off = sum(turn.cut_off for turn in turns)
    told = "no answer in time"
    if figure is not None:
        p50, p90, _ = percentiles(figure)
        told = f"p50 {p50}, p90 {p90}, n {figure.n}"
    more = f", {cut_off} cut off" if cut_off else ""
    return f'<i class="{name}"></i>{name}: {told}{more}'


def _stage_legend() -> str:
    return "".join(
        f'<span><i class="{kind}"></i>to {stage}</span>'
        for stage, kind in STAGE_CLASSES.items()
        if stage != "end of speech"
    )


def _turn_rows(result: Result, scenario: str) -> dict[str, list[TurnRow]]:
    return {
        server.name: [
            row
            for row in result.rows
            if isinstance(row, TurnRow)
            and row.place.scenario == scenario
            and row.place.server == server.name
            and not row.place.warm_up
            and not row.problem
        ]
        for server in result.servers
    }
