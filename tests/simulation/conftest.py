"""Tells at the end how much was simulated, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.campaign import TALLIES

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, tally in TALLIES.items():
        if tally.seeds:
            terminalreporter.write_line(f"{name}: {tally}")
