"""Figures of many measurements: percentiles with their number, and counts with their base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ENOUGH_FOR", "Count", "Figure", "Ratio", "count_of", "figure_of", "ratio_of"]

ENOUGH_FOR: Final = {"p50": 3, "p90": 10, "p99": 100}
"""How many values a percentile needs before it says more than the largest one does."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The distribution of some values; percentiles interpolate between neighbours.

    Attributes:
        n: How many values there were, at least 1.
        p50: Median.
        p90: Nine in ten are below.
        p99: All but one in a hundred are below.
        least: The smallest.
        most: The largest.
    """

    n: int
    p50: float
    p90: float
    p99: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as large as those of a base the percentiles of a figure are."""

    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened, out of how many times that it could have."""

    count: int
    of: int

    @property
    def percent(self) -> float | None:
        """Share in percent, None of nothing."""
        return 100.0 * self.count / self.of if self.of else None


def figure_of(values: Iterable[float | None]) -> Figure | None:
    """Sum up values; what was not measured (None) is left out. None if nothing is left."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    p50, p90, p99 = (float(each) for each in np.percentile(known, [50, 90, 99]))
    return Figure(len(known), p50, p90, p99, min(known), max(known))


def ratio_of(figure: Figure | None, base: Figure | None) -> Ratio | None:
    """Compare with a base, if there is one that is more than nothing."""
    if figure is None or base is None or min(base.p50, base.p90) <= 0.0:
        return None
    return Ratio(figure.p50 / base.p50, figure.p90 / base.p90)


def count_of(happened: Iterable[bool | None]) -> Count:
    """Count what happened; cases that could not tell (None) are no base."""
    known = [each for each in happened if each is not None]
    return Count(sum(known), len(known))
