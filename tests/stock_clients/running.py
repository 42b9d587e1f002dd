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
        why = f"{path.relative_to(ROOT)} is missing: make clients installs the stock clients"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return path


def run_python(program: Path, *arguments: str) -> str:
    """Run a Python program where the stock clients are installed; return what it prints."""
    return _run([str(installed(CLIENTS_BIN / "python")), str(program), *arguments], {})


def run_player(name: str, url: str) -> dict[str, Any]:
    """Run a player in Python; return its report."""
    player = ["-m", f"tests.stock_clients.players.{name}_player", url]
    return report_of(_run([str(installed(CLIENTS_BIN / "python")), *player], {}))


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
        cwd=ROOT,
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


def check_report(report: dict[str, Any], *, weather_answer: str = WEATHER_ANSWER) -> None:
    """What every client must have told its application about the four turns."""
    assert report["errors"] == []
    history = [tuple(entry) for entry in report["history"]]
    assert history.count(("user", QUESTION)) == 2, history  # once spoken, once typed
    assert history.count(("assistant", ANSWER)) == 2, history
    assert history.index(("user", WEATHER_QUESTION)) < history.index(("assistant", weather_answer))
    # Where the interrupted answer stands, and whether the words around it are one message, is
    # the client's choice.
    assert any(role == "user" and said.endswith("Stop, please.") for role, said in history)
    assert history[-1] == ("assistant", "You said: Stop, please."), history
    assert report["cities"] == ["Paris"]
    assert report["interruptions"] == 1
    assert report["audio_bytes"] > 100_000


def check_wire(server: RunningServer, wires: list[Wire], *, tolerated: str = "none") -> None:
    """What the server must have said, whatever the client makes of it.

    Args:
        server: The server.
        wires: Its sessions.
        tolerated: How the message of an error begins that the client provokes on purpose.
    """
    run(server.until_idle())
    check_no_errors(wires, tolerated=tolerated)
    [wire] = wires
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


def check_no_errors(wires: list[Wire], *, tolerated: str = "none") -> None:
    """One session, every event of it valid and in its place, and no error."""
    [wire] = wires
    assert wire.violations == []
    wire.checker.finish(cut=True)
    errors = [event["error"]["message"] for event in wire.of("error")]
    assert [each for each in errors if not each.startswith(tolerated)] == []
