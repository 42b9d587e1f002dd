"""The tables of the page: all figures, every small sound, and where all this was measured."""

from __future__ import annotations

from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.figures import Count, count_of
from s2s_actors.client.bench.names import COUNTS, RATIOS, counts_of, figure_name, figures_of
from s2s_actors.client.bench.rows import BackchannelRow, NoiseRow
from s2s_actors.client.bench.table import percentiles, pool_line, share_of, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from s2s_actors.client.bench.figures import Figure, Ratio
    from s2s_actors.client.bench.result import Probe, Result
    from s2s_actors.client.bench.rows import Row
    from s2s_actors.client.bench.seats import Server
    from s2s_actors.client.bench.summary import Summary

__all__ = ["environment", "scenario_table", "small_sound_table"]

_PERCENTILE_HEADS: Final = "<th>p90</th><th>p99</th><th>n</th>"
_EMPTY: Final = '<td colspan="4"></td>'
"""The place of a server of which there is nothing to say."""


def scenario_table(result: Result) -> str:
    """All figures and counts of all scenarios, servers side by side."""
    names = [server.name for server in result.servers]
    scenarios = dict.fromkeys(summary.scenario for summary in result.summaries)
    body = "".join(
        "".join(
            _scenario_rows(
                scenario,
                {s.server: s for s in result.summaries if s.scenario == scenario},
                names,
            )
        )
        for scenario in scenarios
    )
    heads = "".join(f"<th>p50</th>{_PERCENTILE_HEADS}" for _ in names)
    servers = "".join(f'<th colspan="4"><b class="{name}">{name}</b></th>' for name in names)
    return (
        '<section><h2>All figures</h2><div class="note">Times in ms. In brackets: too few values '
        "for that percentile (p90 wants 10, p99 wants 100).</div><table><thead>"
        f"<tr><th></th>{servers}</tr><tr><th></th>{heads}</tr></thead>"
        f"<tbody>{body}{''.join(_probe_rows(result, names))}</tbody></table></section>"
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


def _scenario_rows(
    scenario: str, found: Mapping[str, Summary], names: Sequence[str]
) -> Iterator[str]:
    yield _head_row(scenario, names)
    for key in figures_of(found.values()):
        figures = {name: summary.figures.get(key) for name, summary in found.items()}
        cells = "".join(_figure_cells(figures.get(name)) for name in names)
        yield f"<tr><td>{escape(figure_name(key))}</td>{cells}</tr>"
    for key in dict.fromkeys(chain.from_iterable(s.ratios for s in found.values())):
        ratios = {name: summary.ratios.get(key) for name, summary in found.items()}
        cells = "".join(_ratio_cells(ratios.get(name)) for name in names)
        yield f"<tr><td>{escape(RATIOS.get(key, key))}</td>{cells}</tr>"
    for key in counts_of(found.values()):
        counts = {name: summary.counts.get(key) for name, summary in found.items()}
        cells = "".join(_count_cells(counts.get(name)) for name in names)
        yield f"<tr><td>{escape(COUNTS.get(key, key))}</td>{cells}</tr>"
    for reason in dict.fromkeys(chain.from_iterable(s.failures for s in found.values())):
        cells = "".join(_failure_cells(found.get(name), reason) for name in names)
        yield f'<tr class="failure"><td>failed: {escape(reason)}</td>{cells}</tr>'


def _head_row(title: str, names: Sequence[str]) -> str:
    return f'<tr class="head"><td>{escape(title)}</td>{_EMPTY * len(names)}</tr>'


def _figure_cells(figure: Figure | None) -> str:
    if figure is None:
        return _EMPTY
    shown = "".join(
        f'<td class="few">{text}</td>' if text.startswith("(") else f"<td>{text}</td>"
        for text in percentiles(figure)
    )
    return f'{shown}<td class="n">{figure.n}</td>'


def _ratio_cells(ratio: Ratio | None) -> str:
    if ratio is None:
        return _EMPTY
    p50, p90 = times(ratio)
    return f'<td>{p50}</td><td>{p90}</td><td colspan="2"></td>'


def _count_cells(count: Count | None) -> str:
    if count is None:
        return _EMPTY
    share, base = share_of(count)
    return f'<td>{share}</td><td colspan="3" class="n">{base}</td>'


def _failure_cells(summary: Summary | None, reason: str) -> str:
    number = summary.failures.get(reason, 0) if summary else 0
    if summary is None or not number:
        return _EMPTY
    return f'<td></td><td colspan="3" class="n">{number} of {summary.trials}</td>'


def _probe_rows(result: Result, names: Sequence[str]) -> Iterator[str]:
    if result.probes:
        yield _head_row("idle client, to session.updated", names)
    for scenario in dict.fromkeys(probe.scenario for probe in result.probes):
        found = {each.server: each for each in result.probes if each.scenario == scenario}
        cells = "".join(_probe_cells(found.get(name)) for name in names)
        yield f"<tr><td>during {escape(scenario)}</td>{cells}</tr>"


def _probe_cells(probe: Probe | None) -> str:
    if probe is None or not probe.problem:
        return _figure_cells(probe.updated_ms if probe else None)
    return f'<td colspan="4" class="failure">{escape(probe.problem)}</td>'


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
