"""Clients that stand for others go first only while they measure."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from s2s_actors.client.bench.precedence import precedence

if sys.platform != "linux":
    pytest.skip("only Linux has such schedulers", allow_module_level=True)


def test_precedence_ends_with_the_block_and_is_not_inherited() -> None:
    before = os.sched_getscheduler(0)
    ask = (sys.executable, "-c", "import os; print(os.sched_getscheduler(0))")
    with precedence():
        inside = os.sched_getscheduler(0)
        child = int(subprocess.check_output(ask))
    assert os.sched_getscheduler(0) == child == before
    assert inside in {before, os.SCHED_RR | os.SCHED_RESET_ON_FORK}  # root may lack the right, too


def test_without_the_right_to_it_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "not permitted")

    before = os.sched_getscheduler(0)
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with precedence():
        assert os.sched_getscheduler(0) == before
