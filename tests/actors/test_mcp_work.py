"""Requests to MCP servers carry the lease, and end with whatever they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.actors.lease import Lease
from s2s_actors.actors.mcp_work import McpWork
from s2s_actors.actors.messages import McpCalled, McpListed
from s2s_actors.protocol.mcp_tools import McpTool
from s2s_actors.protocol.outputs import StartMcpCall, StartMcpListing, StopMcp
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER = McpTool(server_label="local", server_url="http://x")
LEASE = Lease(0, "sess_1", 1)


class Gateway:
    """Keeps what it is asked, until the test answers."""

    def __init__(self) -> None:
        self.asked: list[tuple[CancelToken, Callable[[Any], None]]] = []

    def list_tools(self, _server: McpTool, cancel: CancelToken, done: Any) -> None:
        self.asked.append((cancel, done))

    def call_tool(
        self, _server: McpTool, _name: str, _arguments: Any, cancel: CancelToken, done: Any
    ) -> None:
        self.asked.append((cancel, done))

    def close(self) -> None:
        """Nothing is held."""


class Plant:
    """The requests of one session, and all around them."""

    def __init__(self) -> None:
        self.gateway = Gateway()
        self.scope = CancelToken()
        self.response = self.scope.child()
        self.told: list[object] = []
        self.work = McpWork(self.gateway, LEASE, self.scope, self)

    def put(self, message: object) -> None:
        self.told.append(message)

    def do(self, work: Any) -> tuple[CancelToken, Callable[[Any], None]]:
        self.work.do(work, lambda _: self.response)
        return self.gateway.asked[-1]


@pytest.fixture
def plant() -> Plant:
    return Plant()


def call(response_id: str | None) -> StartMcpCall:
    return StartMcpCall("mcp_1", response_id, SERVER, "weather", {})


def test_answers_come_as_messages_with_the_lease(plant: Plant) -> None:
    _, done = plant.do(StartMcpListing("mcpl_1", SERVER))
    done(())
    _, done = plant.do(call("resp_1"))
    done("sunny")

    assert plant.told == [McpListed(LEASE, "mcpl_1", ()), McpCalled(LEASE, "mcp_1", "sunny")]


def test_a_call_ends_with_its_response(plant: Plant) -> None:
    token, _ = plant.do(call("resp_1"))
    listing, _ = plant.do(StartMcpListing("mcpl_1", SERVER))
    plant.response.cancel()

    assert (token.cancelled, listing.cancelled) == (True, False)


def test_an_approved_call_ends_with_the_session_only(plant: Plant) -> None:
    token, _ = plant.do(call(None))
    plant.response.cancel()
    assert not token.cancelled
    plant.scope.cancel()
    assert token.cancelled


def test_a_list_that_nobody_wants_is_broken_off(plant: Plant) -> None:
    token, _ = plant.do(StartMcpListing("mcpl_1", SERVER))
    plant.do(StopMcp("mcpl_1"))
    plant.do(StopMcp("mcpl_1"))

    assert token.cancelled


def test_a_request_that_was_answered_leaves_nothing_in_the_session(plant: Plant) -> None:
    for _ in range(3):
        plant.do(call(None))
        plant.work.over("mcp_1")

    assert len(plant.scope._callbacks) == 1  # the response's own token
