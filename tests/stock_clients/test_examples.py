"""The examples of the documentation that use stock clients run and print what they promise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.stock_clients.running import NODE_PROGRAMS, ROOT, check_no_errors, run_node, run_python
from tests.stock_clients.tls import TlsProxy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer

EXAMPLES = ROOT / "docs" / "examples"
LOOKED = "(looks out of the window in Paris)"
LEARNED = "It is 22 degrees and sunny."


@pytest.fixture
def node_examples(tmp_path: Path) -> Path:
    """The examples for Node, where they find the packages that are installed for the tests."""
    folder = tmp_path / "node"
    shutil.copytree(EXAMPLES / "node", folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(NODE_PROGRAMS / "node_modules")
    return folder


def test_openai_agents_in_python_calls_the_function_and_speaks(
    server: RunningServer, wires: list[Wire]
) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    looked, learned = run_python(EXAMPLES / "openai_agents" / "turn.py", url).splitlines()
    assert (looked, learned) == (LOOKED, f"{LEARNED} (0.5 s of speech)")
    check_no_errors(wires)


def test_openai_agents_in_javascript_calls_the_function_and_speaks(
    server: RunningServer, wires: list[Wire], node_examples: Path
) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    looked, learned = run_node(node_examples / "agents_turn.mjs", url).splitlines()
    assert (looked, learned) == (LOOKED, f"{LEARNED} (0.5 s of speech)")
    check_no_errors(wires)


def test_openai_in_javascript_prints_the_answer(
    server: RunningServer, wires: list[Wire], node_examples: Path, tmp_path: Path
) -> None:
    with TlsProxy(tmp_path, server.port) as proxy:
        url = f"https://127.0.0.1:{proxy.port}/v1"
        env = {"NODE_EXTRA_CA_CERTS": str(proxy.certificate)}
        said = run_node(node_examples / "openai_turn.mjs", url, env=env)
    assert said == "The capital of France is Paris.\n(completed)\n"
    check_no_errors(wires)


def test_livekit_calls_the_function_and_answers(server: RunningServer, wires: list[Wire]) -> None:
    url = f"http://127.0.0.1:{server.port}/v1"
    said = run_python(EXAMPLES / "livekit" / "turn.py", url).splitlines()
    assert said == [LOOKED, LEARNED]
    check_no_errors(wires)


def test_pipecat_calls_the_function_and_answers(server: RunningServer, wires: list[Wire]) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    said = run_python(EXAMPLES / "pipecat" / "turn.py", url).splitlines()
    # Pipecat hands the output of a function on as JSON.
    assert said == [LOOKED, 'It is "22 degrees and sunny".']
    check_no_errors(wires)


def test_the_examples_for_node_name_the_versions_that_are_tested() -> None:
    examples = (EXAMPLES / "node" / "package.json").read_text(encoding="utf-8")
    tests = (NODE_PROGRAMS / "package.json").read_text(encoding="utf-8")
    assert examples.split('"dependencies"')[1] == tests.split('"dependencies"')[1]
