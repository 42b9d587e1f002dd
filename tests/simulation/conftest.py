"""Tells at the end how much was simulated, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.callers import CAMPAIGNS
from tests.simulation.campaign import Tally

if TYPE_CHECKING:
    import pytest

TALLIES = dict.fromkeys(CAMPAIGNS, Tally())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, tally in TALLIES.items():
        if tally.seeds:
            terminalreporter.write_line(f"{name}: {tally}")
