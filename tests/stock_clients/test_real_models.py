"""Stock clients and the models that come along: what is said differs, the protocol does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.loading import load_models
from s2s_actors.backends.registry import ModelSelection
from tests.stock_clients.running import (
    NODE_PROGRAMS,
    ROOT,
    check_no_errors,
    installed,
    run_node,
    run_python,
)
from tests.support.running_server import RunningServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from s2s_actors.backends.base import Models
    from tests.stock_clients.wire import Wire

EXAMPLES = ROOT / "docs" / "examples"
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    """The four embedded ones, loaded once."""
    loaded = load_models(ModelSelection())
    yield loaded
    for backend in loaded:
        backend.close()


@pytest.fixture
def real_server(wires: list[Wire], models: Models) -> Iterator[RunningServer]:  # noqa: ARG001
    """One unit with real models."""
    with RunningServer(models, units=1) as running:
        yield running


@pytest.mark.parametrize(
    ("client", "address"),
    [
        ("openai_agents", "ws://127.0.0.1:{}/v1/realtime"),
        ("livekit", "http://127.0.0.1:{}/v1"),
        ("pipecat", "ws://127.0.0.1:{}/v1/realtime"),
    ],
)
def test_a_client_in_python_gets_an_answer(
    real_server: RunningServer, wires: list[Wire], client: str, address: str
) -> None:
    said = run_python(EXAMPLES / client / "turn.py", address.format(real_server.port))
    assert said.strip()
    check_no_errors(wires)


def test_openai_agents_in_javascript_get_an_answer(
    real_server: RunningServer, wires: list[Wire], tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(installed(NODE_PROGRAMS / "node_modules"))
    example = tmp_path / "agents_turn.mjs"
    example.write_bytes((EXAMPLES / "node" / "agents_turn.mjs").read_bytes())
    said = run_node(example, f"ws://127.0.0.1:{real_server.port}/v1/realtime")
    assert said.strip()
    check_no_errors(wires)
