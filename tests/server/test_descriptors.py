"""Connections are bounded by what the process may open, and it is told where that is less."""

from __future__ import annotations

import resource

import pytest

from s2s_actors.server.descriptors import room_for


class Files:
    """The process's limit of open files, as a test wants it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
        self.limit = (soft, hard)
        monkeypatch.setattr(resource, "getrlimit", lambda _: self.limit)
        monkeypatch.setattr(resource, "setrlimit", self._set)

    def _set(self, _which: int, limit: tuple[int, int]) -> None:
        self.limit = limit


def test_a_limit_that_is_high_enough_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(monkeypatch, 4096, 4096)
    assert room_for(1000, units=4) == 1000
    assert files.limit == (4096, 4096)


@pytest.mark.parametrize("hard", [1_000_000, resource.RLIM_INFINITY])
def test_a_soft_limit_is_raised_as_far_as_is_needed(
    monkeypatch: pytest.MonkeyPatch, hard: int
) -> None:
    files = Files(monkeypatch, 1024, hard)
    assert room_for(2000, units=4) == 2000
    assert 2000 < files.limit[0] < 3000
    assert files.limit[1] == hard


@pytest.mark.parametrize(("hard", "fits"), [(512, 188), (64, 8)])
def test_a_hard_limit_is_told_and_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hard: int, fits: int
) -> None:
    Files(monkeypatch, 64, hard)
    assert room_for(1000, units=4) == fits
    assert "ulimit -n" in caplog.text
