"""What a burst shows beside the figures of its turns: who of those at once waits for whom."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from s2s_actors.client.bench.figures import figure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.figures import Figure
    from s2s_actors.client.bench.rows import TurnRow

__all__ = ["burst_figures"]


def burst_figures(rows: Sequence[TurnRow]) -> dict[str, Figure | None]:
    """Latencies by place in the burst, and of the quickest and the slowest of each round.

    A server that takes one after the other shows itself in the slowest: it grows with the
    number of those who ask, while the quickest stays.
    """
    rounds = _by_round(rows)
    figures = {
        "latency_quickest_ms": figure_of(min(latencies) for latencies in rounds),
        "latency_slowest_ms": figure_of(max(latencies) for latencies in rounds),
    }
    for session in sorted({row.place.session for row in rows}):
        of_place = [row.latency_ms for row in rows if row.place.session == session]
        figures[f"latency_place_{session + 1}_ms"] = figure_of(of_place)
    return figures


def _by_round(rows: Sequence[TurnRow]) -> list[list[float]]:
    known = [(row.place.number, row.latency_ms) for row in rows if row.latency_ms is not None]
    return [
        [latency_ms for _, latency_ms in found]
        for _, found in groupby(sorted(known), lambda r: r[0])
    ]
