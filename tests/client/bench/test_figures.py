"""Percentiles and counts."""

from __future__ import annotations

import pytest

from s2s_actors.client.bench.figures import Count, count_of, figure_of


def test_percentiles_interpolate_between_neighbours() -> None:
    figure = figure_of(range(101))
    assert figure is not None
    assert (figure.n, figure.p50, figure.p90, figure.p99) == (101, 50, 90, 99)
    assert (figure.least, figure.most) == (0, 100)
    pair = figure_of([10.0, 20.0])
    assert pair is not None
    assert pair.p50 == 15


def test_what_was_not_measured_does_not_count() -> None:
    figure = figure_of([None, 5.0, None])
    assert figure is not None
    assert (figure.n, figure.p50, figure.p99) == (1, 5.0, 5.0)


def test_nothing_has_no_figure() -> None:
    assert figure_of([None]) is None


def test_a_case_that_could_not_tell_is_no_base() -> None:
    assert count_of([True, None, False, True]) == Count(2, 3)


@pytest.mark.parametrize(("count", "percent"), [(Count(1, 4), 25.0), (Count(0, 0), None)])
def test_a_share_of_nothing_is_unknown(count: Count, percent: float | None) -> None:
    assert count.percent == percent
