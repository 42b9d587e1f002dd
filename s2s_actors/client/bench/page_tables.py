"""The tables of the page: all figures, every small sound, and where all this was measured."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from s2s_actors.client.bench.figures import Count, count_of
from s2s_actors.client.bench.names import COUNTS, FIGURES, counts_of, figures_of
from s2s_actors.client.bench.rows import BackchannelRow, NoiseRow
from s2s_actors.client.bench.table import percentiles, pool_line, share_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.client.bench.result import Result
    from s2s_actors.client.bench.rows import Row
    from s2s_actors.client.bench.seats import Server
    from s2s_actors.client.bench.summary import Summary

__all__ = ["environment", "scenario_table", "small_sound_table"]


def scenario_table(result: Result) -> str:
    """All figures and counts of all scenarios."""
    body = "".join("".join(_summary_rows(summary)) for summary in result.summaries)
    probes = "".join(_probe_rows(result))
    return (
        '<section><h2>All figures</h2><div class="note">Times in ms. In brackets: too few values '
        "for that percentile (p90 wants 10, p99 wants 100).</div><table><thead><tr><th></th>"
        "<th>p50</th><th>p90</th><th>p99</th><th>n</th></tr></thead>"
        f"<tbody>{body}{probes}</tbody></table></section>"
    )


def small_sound_table(result: Result, scenario: str) -> str:
    """What each small sound or noise did on each server; empty if none was played."""
    rows = [
        row
        for row in result.rows
        if row.place.scenario == scenario and not row.problem and not row.place.warm_up
    ]
    if not rows:
        return ""
    title, good, bad = {
        "backchannel": ("Small sounds into a long answer", "went on", "broken off"),
        "noise": ("Noise while nobody speaks", "silent", "taken for speech"),
    }[scenario]
    heads = "".join(f"<th>{server.name}</th>" for server in result.servers)
    lines = ""
    for stimulus in dict.fromkeys(row.stimulus for row in rows):
        cells = "".join(
            f"<td>{_chip(_harm(rows, stimulus, server), good, bad)}</td>"
            for server in result.servers
        )
        lines += f"<tr><td>{escape(stimulus)}</td>{cells}</tr>"
    return (
        f'<section><h2>{title}</h2><table class="sounds"><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></section>"
    )


def environment(result: Result) -> str:
    """What was run, on what, against what."""
    machine = result.machine
    load = "" if machine.load is None else f", load {machine.load:.1f} at the end"
    client = (
        f"s2s_actors {machine.version}, Python {machine.python}, {machine.system}, "
        f"{machine.cores} cores{load}"
    )
    facts = [
        ("command", f"<code>{escape(result.options.command)}</code>"),
        ("client", escape(client)),
        *((f"server {server.name}", escape(_models(server))) for server in result.servers),
        *(
            (f"pool of {name} at the end", escape(pool_line(pool)))
            for name, pool in result.pools.items()
            if pool
        ),
    ]
    lines = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts)
    return f"<section><h2>Where this comes from</h2><dl>{lines}</dl></section>"


def _summary_rows(summary: Summary) -> Iterator[str]:
    name = f'{escape(summary.scenario)} <b class="{summary.server}">{summary.server}</b>'
    yield f'<tr class="head"><td>{name}</td>{"<td></td>" * 3}<td>{summary.trials}</td></tr>'
    for key in figures_of(summary):
        figure = summary.figures[key]
        cells = "".join(
            f'<td class="few">{text}</td>' if text.startswith("(") else f"<td>{text}</td>"
            for text in percentiles(figure)
        )
        yield f"<tr><td>{escape(FIGURES.get(key, key))}</td>{cells}<td>{figure.n}</td></tr>"
    for key in counts_of(summary):
        share, base = share_of(summary.counts[key])
        name = escape(COUNTS.get(key, key))
        yield f"<tr><td>{name}</td><td>{share}</td><td></td><td></td><td>{base}</td></tr>"
    for reason, number in summary.failures.items():
        base = f"{number} of {summary.trials}"
        yield (
            f'<tr class="failure"><td>failed: {escape(reason)}</td>{"<td></td>" * 3}'
            f"<td>{base}</td></tr>"
        )


def _probe_rows(result: Result) -> Iterator[str]:
    if result.probes:
        name = "idle client, to session.updated"
        yield f'<tr class="head"><td>{name}</td>{"<td></td>" * 4}</tr>'
    for probe in result.probes:
        name = f'during {escape(probe.scenario)} <b class="{probe.server}">{probe.server}</b>'
        if probe.updated_ms is None:
            yield f'<tr class="failure"><td>{name}: {escape(probe.problem)}</td></tr>'
            continue
        cells = "".join(f"<td>{text}</td>" for text in percentiles(probe.updated_ms))
        yield f"<tr><td>{name}</td>{cells}<td>{probe.updated_ms.n}</td></tr>"


def _harm(rows: list[Row], stimulus: str, server: Server) -> Count:
    of_it = [row for row in rows if (row.stimulus, row.place.server) == (stimulus, server.name)]
    return count_of(_is_harmed(row) for row in of_it)


def _is_harmed(row: Row) -> bool | None:
    if isinstance(row, BackchannelRow):
        return row.cancelled
    return row.fell_for_it if isinstance(row, NoiseRow) else None


def _chip(count: Count, good: str, bad: str) -> str:
    if not count.of:
        return ""
    kind, word = ("bad", bad) if count.count else ("good", good)
    times = count.count or count.of
    return f'<span class="chip {kind}">{word} {times}/{count.of}</span>'


def _models(server: Server) -> str:
    models = server.models.get("data")
    if not isinstance(models, list) or not models:
        return f"{server.url} (does not say what it runs)"
    named = [model for model in models if isinstance(model, dict)]
    parts = (f"{each.get('kind', 'model')} {each.get('id')}" for each in named)
    return f"{server.url}: {', '.join(parts)}"
