"""The headline figures of the page, one tile each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.client.bench.figures import Count, Figure
    from s2s_actors.client.bench.result import Result
    from s2s_actors.client.bench.summary import Summary

__all__ = ["tiles"]

_FIGURES: Final = (
    ("turns", "latency_ms", "voice to voice"),
    ("soak", "latency_ms", "voice to voice, soak"),
    ("barge-in", "cancelled_ms", "stops when you speak"),
)
_COUNTS: Final = (
    ("turns", "cut_off", "cut off", "turns"),
    ("turns", "word_errors", "word errors", "words"),
    ("pauses", "cut_off", "cut off while thinking", "sentences"),
    ("backchannel", "interrupted", "broken off by a small sound", "answers"),
    ("noise", "fell_for_noise", "noise taken for speech", "noises"),
)


def tiles(result: Result) -> str:
    """What one wants to know first, for each server; only what was measured."""
    return f'<div class="tiles">{"".join(_tiles(result))}</div>'


def _tiles(result: Result) -> Iterator[str]:
    for summary in result.summaries:
        server = summary.server if len(result.servers) > 1 else ""
        for what, value, more in _headlines(summary):
            name = f' <b class="{server}">{server}</b>' if server else ""
            yield (
                f'<div class="tile"><div class="what">{what}{name}</div>'
                f'<div class="value">{value}</div><div class="more">{more}</div></div>'
            )


def _headlines(summary: Summary) -> Iterator[tuple[str, str, str]]:
    for scenario, key, what in _FIGURES:
        figure = summary.figures.get(key)
        if scenario == summary.scenario and figure is not None:
            yield what, _ms(figure), _more(figure)
    for scenario, key, what, things in _COUNTS:
        count = summary.counts.get(key)
        if scenario == summary.scenario and count is not None:
            yield what, _percent(count), f"{count.count} of {count.of} {things}"


def _ms(figure: Figure) -> str:
    return f"{figure.p50:.0f} <small>ms</small>"


def _more(figure: Figure) -> str:
    return f"median · p90 {figure.p90:.0f} ms · n {figure.n}"


def _percent(count: Count) -> str:
    return f"{count.percent or 0.0:.0f} <small>%</small>"
