"""What crowds showed, in the terminal and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from s2s_actors.client.bench.figures import ENOUGH_FOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from s2s_actors.client.bench.crowd_point import CrowdPoint
    from s2s_actors.client.bench.figures import Figure

__all__ = ["HEADS", "cells", "crowd_table", "verdicts"]

_OTHERS_CORES: Final = 0.2
"""What others may use of the machine without a word."""

HEADS: Final = (
    "sessions",
    "cores",
    "CPU ms/s each",
    "MB",
    "threads",
    "started p50",
    "p99",
    "alone p50",
    "p99",
    "idle client p99",
    "whole turns",
    "false starts",
    "client late p99",
    "client cores",
)
"""Headings of what :func:`cells` gives."""


def cells(point: CrowdPoint) -> tuple[str, ...]:
    """The numbers of a crowd; what isn't known is a question mark."""
    usage, cost_ms = point.usage, point.cpu_ms_per_session_s
    return (
        str(point.sessions),
        f"{usage.cores:.2f}" if usage else "?",
        f"{cost_ms:.2f}" if cost_ms is not None else "?",
        f"{usage.rss_mb:.0f}" if usage else "?",
        str(usage.threads) if usage else "?",
        *_p50_p99(point.started_ms),
        *_p50_p99(point.alone_started_ms),
        _p50_p99(point.updated_ms)[1],
        f"{point.said - point.missed}/{point.said}",
        str(point.false_starts),
        f"{point.late_ms.p99:.1f}" if point.late_ms else "?",
        f"{point.client_cores:.2f}",
    )


def crowd_table(server: str, points: Sequence[CrowdPoint]) -> Table:
    """All crowds on a server, a line for each size."""
    table = Table(title=f"crowds on {server}", title_justify="left", box=None, padding=(0, 1, 0, 0))
    for head in HEADS:
        table.add_column(head, justify="right", header_style="dim")
    for point in points:
        table.add_row(*cells(point))
    return table


def verdicts(points: Sequence[CrowdPoint]) -> Iterator[str]:
    """For each size whether the server bore it, and what did not hold."""
    for point in points:
        borne = f"breaks: {'; '.join(point.breaks)}" if point.breaks else "holds"
        yield f"{point.sessions} sessions on {point.server}: {borne}{_aside(point)}"


def _aside(point: CrowdPoint) -> str:
    if point.usage is None:
        return ""
    others = point.usage.machine_cores - point.usage.cores - point.client_cores
    return f" (others kept {others:.1f} cores busy)" if others > _OTHERS_CORES else ""


def _p50_p99(figure: Figure | None) -> tuple[str, str]:
    if figure is None:
        return "?", "?"
    p99 = f"{figure.p99:.0f}"
    return f"{figure.p50:.0f}", p99 if figure.n >= ENOUGH_FOR["p99"] else f"({p99})"
