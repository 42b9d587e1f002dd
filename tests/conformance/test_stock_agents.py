"""Stock clients that people build voice agents with, unmodified."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.processes import STOCK_JAVASCRIPT, STOCK_PYTHON
from .realtime_conformance.sound import silence
from .realtime_conformance.target import not_applicable

if TYPE_CHECKING:
    from pathlib import Path

    from .realtime_conformance.target import Target


@pytest.fixture
def question(target: Target, tmp_path: Path) -> Path:
    """A spoken question as raw audio."""
    path = tmp_path / "question.pcm"
    path.write_bytes(silence(200) + target.speech + silence(3000))
    return path


def report(*command: str | Path) -> dict[str, Any]:
    """What a client has heard."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr[-1000:]
    heard: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return heard


@check("transport/8", CORE)
def test_the_stock_javascript_agents_hold_a_spoken_turn(target: Target, question: Path) -> None:
    if target.node is None or target.node_modules is None:
        not_applicable("no --node-modules")
    rest = (target.address(), target.key, question, target.node_modules)
    heard = report(target.node, STOCK_JAVASCRIPT, *rest)
    assert heard["errors"] == []
    assert heard["audio_bytes"] > 4800
    assert [role for role, _ in heard["history"]] == ["user", "assistant"]
    assert all(text for _, text in heard["history"])


@check("transport/9", FULL)
def test_the_stock_python_agents_hold_a_spoken_turn(target: Target, question: Path) -> None:
    if target.agents_python is None:
        not_applicable("no --agents-python")
    heard = report(target.agents_python, STOCK_PYTHON, target.address(), target.key, question)
    assert heard["errors"] == []
    assert heard["audio_bytes"] > 4800
    assert {"history_updated", "audio", "audio_end"} <= set(heard["events"])
