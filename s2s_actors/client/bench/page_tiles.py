"""The headline figures of the page, one tile each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.table import percentiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from s2s_actors.client.bench.figures import Count, Figure
    from s2s_actors.client.bench.result import Result
    from s2s_actors.client.bench.summary import Summary

__all__ = ["tiles"]

_FIGURES: Final = (
    ("turns", "latency_ms", "voice to voice, median"),
    ("burst", "latency_ms", "voice to voice, burst"),
    ("conversation", "latency_ms", "voice to voice, conversations"),
    ("soak", "latency_ms", "voice to voice, soak"),
    ("barge-in", "cancelled_ms", "stops when you speak, median"),
)
_COUNTS: Final = (
    ("turns", "cut_off", "cut off"),
    ("turns", "word_errors", "word errors"),
    ("pauses", "cut_off", "cut off while thinking"),
    ("backchannel", "interrupted", "broken off by a small sound"),
    ("noise", "fell_for_noise", "noise taken for speech"),
)


def tiles(result: Result) -> str:
    """What one wants to know first, all servers in one tile; only what was measured."""
    return f'<div class="tiles">{"".join(_tiles(result.summaries))}</div>'


def _tiles(summaries: Sequence[Summary]) -> Iterator[str]:
    for scenario, key, what in _FIGURES:
        found = {each.server: each.figures.get(key) for each in _of(summaries, scenario)}
        yield _tile(what, {name: _timed(figure) for name, figure in found.items() if figure})
    for scenario, key, what in _COUNTS:
        counts = {each.server: each.counts.get(key) for each in _of(summaries, scenario)}
        yield _tile(what, {name: _shared(count) for name, count in counts.items() if count})


def _of(summaries: Sequence[Summary], scenario: str) -> list[Summary]:
    return [summary for summary in summaries if summary.scenario == scenario]


def _tile(what: str, values: Mapping[str, tuple[str, str]]) -> str:
    if not values:
        return ""
    several = len(values) > 1
    shown = "".join(
        f'<div><div class="value">{value}</div><div class="more">'
        + (f'<b class="{name}">{name}</b> ' if several else "")
        + f"{more}</div></div>"
        for name, (value, more) in values.items()
    )
    return (
        f'<div class="tile"><div class="what">{what}</div><div class="values">{shown}</div></div>'
    )


def _timed(figure: Figure) -> tuple[str, str]:
    return f"{figure.p50:.0f} <small>ms</small>", f"p90 {percentiles(figure)[1]}, n {figure.n}"


def _shared(count: Count) -> tuple[str, str]:
    return f"{count.percent or 0.0:.0f} <small>%</small>", f"{count.count} of {count.of}"
