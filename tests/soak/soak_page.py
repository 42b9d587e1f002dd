"""A soak as one HTML page: what the server held, and how long answers took, over time."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.style import STYLE
from s2s_actors.client.bench.svg import Plot, Span, ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Curve", "page"]

_WIDTH: Final = 530
_HEIGHT: Final = 260


@dataclass(frozen=True, slots=True)
class Curve:
    """Something over time.

    Attributes:
        title: What it is.
        unit: Of the values.
        points: Seconds into the run, and the value.
        dots: Whether each value is a dot of its own.
    """

    title: str
    unit: str
    points: Sequence[tuple[float, float]]
    dots: bool = False


def page(heading: str, curves: Sequence[Curve]) -> str:
    """The whole page; it loads nothing."""
    drawn = "".join(f"<section>{_drawn(curve)}</section>" for curve in curves)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>soak</title>'
        f"<style>{STYLE}</style></head><body><main><header><h1>{escape(heading)}</h1></header>"
        f'<div class="pair">{drawn}</div></main></body></html>\n'
    )


def _drawn(curve: Curve) -> str:
    last_s = max((at_s for at_s, _ in curve.points), default=1.0) or 1.0
    high = 1.1 * max((value for _, value in curve.points), default=1.0) or 1.0
    plot = Plot(
        _WIDTH,
        _HEIGHT,
        Span(0.0, 1.02 * last_s, 56, _WIDTH - 14),
        Span(0.0, high, _HEIGHT - 48, 44),
        curve.title,
    )
    plot.text(_WIDTH / 2, 16, curve.title, "label")
    plot.x_axis(ticks(0.0, 1.02 * last_s), "seconds into the run")
    plot.y_axis(ticks(0.0, high, about=5), curve.unit)
    if curve.dots:
        for at_s, value in curve.points:
            plot.dot(at_s, value, "dot A", f"{value:.4g} {curve.unit}")
    else:
        plot.path(curve.points, "step A")
    return plot.drawn()
