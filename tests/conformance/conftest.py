"""The server under test, its options, and the scorecard."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from .not_yet import NOT_YET
from .realtime_conformance import plugin
from .realtime_conformance.client import Client
from .realtime_conformance.processes import own_server, scripted_model, small_mcp_server
from .realtime_conformance.target import Target, not_applicable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

UNITS = "12"
CROWD_UNITS = "100"
EXPIRES_S = "2"
CLIENTS = Path(sys.prefix) / "clients"
"""Where this project keeps the stock clients."""


def pytest_addoption(parser: pytest.Parser) -> None:
    plugin.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "check(id, level): a check of the scorecard",
        "needs_script: asks for faults, which only a scripted server can have on command",
        "run_last: waits for something that began with the first test",
    ):
        config.addinivalue_line("markers", line)


def _option(config: pytest.Config, name: str) -> Any:
    return config.getoption(name, default=None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _option(config, "list_checks"):
        plugin.list_checks(items)
    plugin.order(items)
    if _option(config, "server") is None:
        plugin.mark_known_gaps(items, NOT_YET)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return (yield from plugin.record(item, call))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    plugin.show(terminalreporter, config)


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> Iterator[Target]:
    """The server of ``--server``, or the project's own, started for these checks."""
    with contextlib.ExitStack() as beside:
        yield _target(pytestconfig, beside)


def _target(config: pytest.Config, beside: contextlib.ExitStack) -> Target:
    server = _option(config, "server")
    if server is None:
        return _own(beside)
    loopback = urlsplit(server).hostname in ("127.0.0.1", "::1", "localhost")
    mcp_url = _option(config, "mcp_url")
    if mcp_url is None and loopback:
        mcp_url = beside.enter_context(small_mcp_server())
    return Target(
        url=server,
        api_key=_option(config, "api_key"),
        model=_option(config, "model") or "gpt-realtime",
        pool_url=_option(config, "pool_url"),
        expiring_url=_option(config, "expiring_server"),
        scripted=bool(_option(config, "scripted")),
        mcp_url=mcp_url,
        agents_python=_option(config, "agents_python"),
        node=shutil.which("node"),
        node_modules=_option(config, "node_modules"),
        pace=float(_option(config, "pace") or 1.0),
        patience_s=float(_option(config, "patience") or 30.0),
    )


def _if_there(path: Path) -> str | None:
    return str(path) if path.exists() else None


def _own(beside: contextlib.ExitStack) -> Target:
    model_url = beside.enter_context(scripted_model())
    url = beside.enter_context(own_server(model_url, "--units", UNITS))
    expiring = own_server(model_url, "--units", "1", "--session-timeout", EXPIRES_S)
    return Target(
        url=url,
        expiring_url=beside.enter_context(expiring),
        pool_url=f"http://{urlsplit(url).netloc}/v1/pool",
        mcp_url=beside.enter_context(small_mcp_server()),
        scripted=True,
        ours=True,
        agents_python=_if_there(CLIENTS / "bin" / "python"),
        node=_if_there(CLIENTS / "bin" / "node"),
        node_modules=_if_there(
            Path(__file__).parent.with_name("stock_clients") / "node" / "node_modules"
        ),
        pace=0.0,
        patience_s=15.0,
    )


@pytest.fixture(scope="session")
def crowded(target: Target) -> Iterator[Target]:
    """A server with room for a hundred sessions."""
    if not target.ours:
        yield target
        return
    with (
        scripted_model() as model_url,
        own_server(model_url, "--units", CROWD_UNITS, "--admission", "units") as url,
    ):
        yield replace(target, url=url, patience_s=60.0)


@pytest.fixture(autouse=True)
def _script_is_there(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("needs_script") is not None:
        server: Target = request.getfixturevalue("target")
        if not server.scripted:
            not_applicable("needs the suite's script behind the server")


@pytest.fixture(scope="session", autouse=True)
def quiet_since_s(request: pytest.FixtureRequest) -> Iterator[tuple[Client, float] | None]:
    """A session without a word since the first test, and when it began."""
    if not any(
        "quiet_since_s" in getattr(i, "fixturenames", ()) and i.get_closest_marker("run_last")
        for i in request.session.items
    ):
        yield None
        return
    with Client(request.getfixturevalue("target")) as client:
        client.sync()
        yield client, time.monotonic()


@pytest.fixture
def connect(target: Target) -> Callable[..., Client]:
    """Opens a session, with the arguments of :class:`Client`; it ends with the test."""

    def opened(query: dict[str, str] | None = None, **options: Any) -> Client:
        return Client(target, query, **options)

    return opened


@pytest.fixture
def client(target: Target, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A session that has just been greeted."""
    with Client(target) as session:
        yield session
        session.abandoned = request.node.stash.get(plugin.HAS_FAILED, False)
