"""Runs stock clients in their own environment, and checks what they and the wire tell."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.running_server import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer

ROOT = Path(__file__).parents[2]
PLAYERS = Path(__file__).parent / "players"
NODE_PROGRAMS = Path(__file__).parent / "node"
CLIENTS_BIN = ROOT / ".venv" / "clients" / "bin"
PATIENCE_S = 100

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."
WEATHER_QUESTION = "What is the weather in Paris?"
WEATHER_ANSWER = "It is 22 degrees and sunny."


def installed(path: Path) -> Path:
    """Skip the test where the stock clients are not installed; in CI they have to be."""
    if not path.exists():
        why = f"{path.relative_to(ROOT)} is missing: make install puts the stock clients there"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return path


def run_python(program: Path, *arguments: str) -> str:
    """Run a Python program where the stock clients are installed; return what it prints."""
    return _run([str(installed(CLIENTS_BIN / "python")), str(program), *arguments], {})


def run_node(program: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run a JavaScript program, which finds packages in or above its folder."""
    installed(NODE_PROGRAMS / "node_modules")
    return _run([str(installed(CLIENTS_BIN / "node")), str(program), *arguments], env or {})


def _run(command: list[str], env: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        # Small on purpose: no proxy, no key and no setting of the machine gets in.
        env={"PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1", **env},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def report_of(printed: str) -> dict[str, Any]:
    """The report of a player: the last line that it prints."""
    report = json.loads(printed.splitlines()[-1])
    assert isinstance(report, dict)
    return report


def check_report(report: dict[str, Any]) -> None:
    """What every client must have told its application about the four turns."""
    assert report["errors"] == []
    history = [tuple(entry) for entry in report["history"]]
    assert history.count(("user", QUESTION)) == 2, history  # once spoken, once typed
    assert history.count(("assistant", ANSWER)) == 2, history
    assert history.index(("user", WEATHER_QUESTION)) < history.index(("assistant", WEATHER_ANSWER))
    assert history[-2:] == [("user", "Stop, please."), ("assistant", "You said: Stop, please.")]
    assert report["cities"] == ["Paris"]
    assert report["interruptions"] == 1
    assert report["audio_bytes"] > 100_000


def check_wire(server: RunningServer, wires: list[Wire]) -> None:
    """What the server must have said, whatever the client makes of it."""
    run(server.until_idle())
    [wire] = wires
    assert wire.violations == []
    wire.checker.finish(cut=True)
    assert wire.of("error") == []
    statuses = [response["status"] for response in wire.responses()]
    assert statuses == ["completed"] * 4 + ["cancelled", "completed"]
    assert wire.responses()[4]["status_details"] == {
        "type": "cancelled",
        "reason": "turn_detected",
    }
    outputs = [
        event["item"]["output"]
        for event in wire.sent_of("conversation.item.create")
        if event["item"]["type"] == "function_call_output"
    ]
    assert len(outputs) == 1
    assert "22 degrees and sunny" in outputs[0]
