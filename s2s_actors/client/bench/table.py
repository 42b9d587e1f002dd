"""The result as a table in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from s2s_actors.client.bench.crowd_words import crowd_table, verdicts
from s2s_actors.client.bench.figures import ENOUGH_FOR
from s2s_actors.client.bench.names import COUNTS, RATIOS, counts_of, figure_name, figures_of
from s2s_actors.client.folding import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from s2s_actors.client.bench.crowd_point import CrowdPoint
    from s2s_actors.client.bench.figures import Count, Figure, Ratio
    from s2s_actors.client.bench.result import Probe, Result
    from s2s_actors.client.bench.summary import Summary

__all__ = ["percentiles", "pool_line", "share_of", "show_result", "shown", "times"]

_FOOTNOTE = (
    "Times in ms. In brackets: too few values for that percentile (p90 wants 10, p99 wants 100), "
    "so it is little more than the largest one."
)


def show_result(console: Console, result: Result) -> None:
    """Print one table for each scenario and server, then what idle clients saw."""
    for server in result.servers:
        console.print(Text.assemble((f"{server.name}  ", "bold"), (server.url, "dim")))
    for summary in result.summaries:
        console.print()
        console.print(_table(summary))
    if result.crowds:
        _show_crowds(console, result.crowds)
    for probe in result.probes:
        console.print(Text(printable(_probe_line(probe))), soft_wrap=True)
    for name, pool in result.pools.items():
        if pool:
            console.print(Text(f"pool of {name} at the end: {pool_line(pool)}"), soft_wrap=True)
    console.print(Text(_FOOTNOTE, "dim"), soft_wrap=True)


def _show_crowds(console: Console, points: Sequence[CrowdPoint]) -> None:
    for server in dict.fromkeys(point.server for point in points):
        console.print()
        console.print(crowd_table(server, [each for each in points if each.server == server]))
    for verdict in verdicts(points):
        console.print(Text(printable(verdict)), soft_wrap=True)


def pool_line(pool: Mapping[str, object]) -> str:
    """How many units there are, what they do, and how many of their stages were replaced."""
    counts, units = pool.get("counts"), pool.get("units")
    parts = [f"{pool.get('size')} units"]
    if isinstance(counts, dict):
        parts += [f"{number} {state}" for state, number in counts.items() if number]
    if isinstance(units, list):
        restarts = sum(int(unit.get("restarts", 0)) for unit in units if isinstance(unit, dict))
        parts.append(f"{restarts} stages replaced")
    return ", ".join(parts)


def percentiles(figure: Figure) -> tuple[str, str, str]:
    """p50, p90 and p99 in ms, in brackets where there are too few values."""
    texts = (
        (shown(value), figure.n >= ENOUGH_FOR[name])
        for name, value in (("p50", figure.p50), ("p90", figure.p90), ("p99", figure.p99))
    )
    p50, p90, p99 = (text if enough else f"({text})" for text, enough in texts)
    return p50, p90, p99


def shown(value: float) -> str:
    """A whole number, or one more digit below 10."""
    return f"{value:.1f}" if abs(value) < 10 and not float(value).is_integer() else f"{value:.0f}"


def times(ratio: Ratio) -> tuple[str, str]:
    """How many times the p50 and the p90 of the base."""
    return f"{ratio.p50:.2f} x", f"{ratio.p90:.2f} x"


def _probe_line(probe: Probe) -> str:
    what = f"idle client on {probe.server} during {probe.scenario}"
    if probe.updated_ms is None:
        return f"{what}: {probe.problem or 'no answer'}"
    p50, p90, p99 = percentiles(probe.updated_ms)
    return f"{what}: session.updated after {p50}, p90 {p90}, p99 {p99}, n {probe.updated_ms.n}"


def share_of(count: Count) -> tuple[str, str]:
    """The share in percent, and what it is of."""
    return f"{count.percent or 0.0:.1f} %", f"{count.count} of {count.of}"


def _table(summary: Summary) -> Table:
    failed = sum(summary.failures.values())
    title = Text.assemble(
        (f"{summary.scenario} on {summary.server}", "bold"),
        (f"  {summary.trials} trials", "dim"),
        (f", {failed} failed" if failed else "", "bold red"),
    )
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for heading in ("p50", "p90", "p99", "max", "n"):
        table.add_column(heading, justify="right", header_style="dim")
    for key in figures_of([summary]):
        figure = summary.figures[key]
        table.add_row(figure_name(key), *percentiles(figure), shown(figure.most), str(figure.n))
    for key, ratio in summary.ratios.items():
        table.add_row(RATIOS.get(key, key), *times(ratio), "", "", "")
    for key in counts_of([summary]):
        share, base = share_of(summary.counts[key])
        table.add_row(COUNTS.get(key, key), share, "", "", "", base)
    for reason, number in summary.failures.items():
        table.add_row(
            Text(printable(reason), "red"), "", "", "", "", f"{number} of {summary.trials}"
        )
    return table
