"""Tells at the end how much was simulated, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.campaign import TALLY

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TALLY.took_s:
        terminalreporter.write_line(
            f"simulated: {TALLY.seeds} seeds, {TALLY.sessions} sessions,"
            f" {TALLY.responses} responses and {TALLY.talk_s:.0f} s of talk"
            f" in {TALLY.took_s:.1f} s:"
            f" {TALLY.sessions / TALLY.took_s:.0f} sessions a second,"
            f" {TALLY.talk_s / TALLY.took_s:.0f} times as fast as life"
        )
