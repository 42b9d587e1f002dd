"""Hooks of pytest: options, the order of the checks, known gaps, and the scorecard."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from .checks import check_of
from .scorecard import FAILED, NOT_APPLICABLE, PASSED, Scorecard

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import NoReturn

__all__ = ["HAS_FAILED", "add_options", "list_checks", "mark_known_gaps", "order", "record", "show"]

_OPTIONS: dict[str, str] = {
    "--server": "ws:// or wss:// address of the server under test, with the path /v1/realtime",
    "--api-key": "key of the server under test; checks of wrong keys need one",
    "--model": "model named in the URL (default: gpt-realtime)",
    "--pool-url": "HTTP address that tells how many sessions are in_use",
    "--expiring-server": "address of a server of the same kind whose sessions last only seconds",
    "--mcp-url": "MCP server that the server under test can reach",
    "--agents-python": "a Python in which the package openai-agents is installed",
    "--node-modules": "folder in which the package @openai/agents is installed for Node.js",
    "--patience": "seconds to wait for what should happen at once (default: 30)",
    "--pace": "speed at which audio is sent; 1 is real time, 0 as fast as it goes (default: 1)",
}
_card = pytest.StashKey[Scorecard]()
HAS_FAILED = pytest.StashKey[bool]()
"""Set on a test once it has failed."""
LAST = "run_last"


def add_options(parser: pytest.Parser) -> None:
    """Options of the suite."""
    group = parser.getgroup("conformance", "conformance of a Realtime server")
    for name, text in _OPTIONS.items():
        group.addoption(name, default=None, help=text)
    group.addoption("--list-checks", action="store_true", help="print the checks and run none")
    group.addoption(
        "--scripted", action="store_true", help="the server plays the suite's script (README.md)"
    )


def order(items: list[pytest.Item]) -> None:
    """Put those that only wait to the end."""
    items.sort(key=lambda item: item.get_closest_marker(LAST) is not None)


def mark_known_gaps(items: list[pytest.Item], gaps: Mapping[str, str]) -> None:
    """Expect these checks to fail; one that passes then fails the run."""
    for item in items:
        found = check_of(item)
        if found is not None and found.id in gaps:
            item.add_marker(pytest.mark.xfail(reason=gaps[found.id], strict=True))


def list_checks(items: list[pytest.Item]) -> NoReturn:
    """Print all checks that were collected, and end the run."""
    checks = [found for item in items if (found := check_of(item))]
    for found in checks:
        sys.stdout.write(f"{found.id:44}{found.level:6}{found.what}\n")
    pytest.exit(f"{len(checks)} checks", returncode=0)


def record(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write the outcome of a test into the scorecard."""
    report = yield
    if report.failed or hasattr(report, "wasxfail"):
        item.stash[HAS_FAILED] = True
    check = check_of(item)
    if check is not None and (call.when == "call" or report.outcome != "passed"):
        card = item.config.stash.setdefault(_card, Scorecard())
        card.record(check, *_verdict(report, call))
    return report


def _verdict(report: pytest.TestReport, call: pytest.CallInfo[None]) -> tuple[str, str]:
    gap = getattr(report, "wasxfail", None)
    if report.skipped and gap is None:
        return NOT_APPLICABLE, ""
    if report.passed:
        return PASSED, ""
    return FAILED, f"known gap: {gap}" if gap else _first_line(call)


def _first_line(call: pytest.CallInfo[Any]) -> str:
    if call.excinfo is None:
        return "it passes, but is listed as a known gap"
    text = str(call.excinfo.value).strip()
    return text.splitlines()[0] if text else call.excinfo.typename


def show(reporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the scorecard."""
    card = config.stash.get(_card, Scorecard())
    if card:
        reporter.section("conformance")
        for line in card.lines():
            reporter.write_line(line)
