"""A few marks of SVG by hand: enough for axes, dots, bars and steps.

Colours are classes, so that one style sheet makes them light or dark. Nothing is loaded from
anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Plot", "Span", "ticks"]


@dataclass(frozen=True, slots=True)
class Span:
    """Values from ``low`` to ``high``, laid out from ``start`` to ``end`` in pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, *, about: int = 6) -> list[float]:
    """Round values between ``low`` and ``high``, some ``about`` of them: steps of 1, 2 or 5."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= raw * 0.75)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


@dataclass(slots=True)
class Plot:
    """A drawing with an area for data.

    Attributes:
        width: In pixels.
        height: In pixels.
        x: Values from left to right.
        y: Values from bottom to top.
        title: What it shows, for those who can't see it.
    """

    width: int
    height: int
    x: Span
    y: Span
    title: str
    _marks: list[str] = field(default_factory=list)

    def line(self, ends: tuple[float, float, float, float], kind: str) -> None:
        """A straight line between two places in pixels."""
        x1, y1, x2, y2 = ends
        self._marks.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'
        )

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> None:
        """Words at a place in pixels."""
        self._marks.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
            f"{escape(words)}</text>"
        )

    def steps(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A line through values that goes across, then up."""
        path = ""
        for x, y in points:
            at_x, at_y = self.x.at(x), self.y.at(y)
            path += f"H{at_x:.1f}V{at_y:.1f}" if path else f"M{at_x:.1f},{at_y:.1f}"
        self._marks.append(f'<path d="{path}" class="{kind}"/>')

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A line from value to value."""
        places = " ".join(f"{self.x.at(x):.1f},{self.y.at(y):.1f}" for x, y in points)
        if places:
            self._marks.append(f'<polyline points="{places}" class="{kind}"/>')

    def dot(self, x: float, y: float, kind: str, tip: str) -> None:
        """A dot at a value, with words for whoever points at it."""
        self._marks.append(
            f'<circle cx="{self.x.at(x):.1f}" cy="{self.y.at(y):.1f}" r="4" class="{kind}">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def cross(self, x: float, y: float, kind: str, tip: str) -> None:
        """A cross at a value."""
        at_x, at_y = self.x.at(x), self.y.at(y)
        self._marks.append(
            f'<path d="M{at_x - 4:.1f},{at_y - 4:.1f}l8,8m0,-8l-8,8" class="{kind}">'
            f"<title>{escape(tip)}</title></path>"
        )

    def bar(self, box: tuple[float, float, float, float], kind: str, tip: str) -> None:
        """A filled rectangle: left, top, width and height in pixels."""
        left, top, width, height = box
        self._marks.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(0.0, width):.1f}" '
            f'height="{max(0.0, height):.1f}" class="{kind}"><title>{escape(tip)}</title></rect>'
        )

    def x_axis(self, values: Sequence[float], unit: str) -> None:
        """Lines and numbers for values of x; the unit stands below the middle."""
        bottom = self.y.start
        for value in values:
            at = self.x.at(value)
            self.line((at, bottom, at, self.y.end), "zero" if value == 0 else "grid")
            self.text(at, bottom + 18, f"{value:g}", "tick")
        self.text((self.x.start + self.x.end) / 2, bottom + 36, unit, "unit")

    def y_axis(self, values: Sequence[float], unit: str) -> None:
        """Lines and numbers for values of y; the unit stands above them."""
        for value in values:
            at = self.y.at(value)
            self.line((self.x.start, at, self.x.end, at), "grid")
            self.text(self.x.start - 8, at + 4, f"{value:g}", "tick", "end")
        self.text(self.x.start - 8, self.y.end - 12, unit, "unit", "end")

    def drawn(self) -> str:
        """The whole drawing."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}">{"".join(self._marks)}</svg>'
        )
