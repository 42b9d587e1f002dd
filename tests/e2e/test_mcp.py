"""MCP tools through the whole server: real MCP servers, real websockets."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.mcp_exchange import McpLimits
from s2s_actors.backends.mcp_http import HttpMcp
from tests.support.mcp_server import LocalMcp, SilentServer, dead_url
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import PATIENCE_S, RunningServer, ServeCommand, run

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTED = "mcp_list_tools.completed"
FAILED = "mcp_list_tools.failed"
CREATE = "conversation.item.create"
ITEM_DONE = "conversation.item.done"
ANSWER = "It is {tool}."


@pytest.fixture(scope="module")
def shared_mcp() -> Iterator[LocalMcp]:
    with LocalMcp() as running:
        yield running


@pytest.fixture
def mcp(shared_mcp: LocalMcp) -> LocalMcp:
    shared_mcp.calls.clear()
    shared_mcp.hanging.clear()
    shared_mcp.let_go.clear()
    return shared_mcp


@pytest.fixture
def hasty() -> Iterator[RunningServer]:
    """A server that does not wait long for others."""
    limits = McpLimits(connect_timeout_s=1.0, list_timeout_s=0.5, call_timeout_s=1.0)
    with RunningServer(mcp=HttpMcp(limits)) as running:
        yield running


def calling(name: str, **arguments: Any) -> dict[str, Any]:
    """A turn in which the scripted model calls a tool."""
    return {"text": "", "tool_calls": [{"name": name, "arguments": arguments}]}


async def prepared(client: RealtimeClient, tool: dict[str, Any], *answers: Any) -> None:
    """A session that writes, has the tools of one server and follows a script."""
    await client.play(*answers, output_modalities=["text"], tools=[tool])
    await client.event(LISTED)
    await client.event(ITEM_DONE)


async def item_done(client: RealtimeClient, kind: str) -> dict[str, Any]:
    """The next item of a type that is done."""

    def matches(event: dict[str, Any]) -> bool:
        return bool(event["type"] == ITEM_DONE and event["item"]["type"] == kind)

    return dict((await client.event_that(matches, f"{kind} done"))["item"])


def spoken(response: dict[str, Any]) -> str:
    """What a response says."""
    return str(response["output"][0]["content"][0]["text"])


def test_tools_are_listed_called_and_answered_with(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(
                calling("weather", city="Rome"),
                ANSWER,
                output_modalities=["text"],
                tools=[mcp.tool(authorization="sesame")],
            )
            await client.event("mcp_list_tools.in_progress")
            await client.event(LISTED)
            listed = await item_done(client, "mcp_list_tools")
            assert listed["tools"][0]["description"] == "The weather of a city."
            assert listed["tools"][0]["annotations"] == {"readOnlyHint": True}
            response = await client.ask("The weather in Rome?")
            [call] = response["output"]
            assert (call["type"], call["name"]) == ("mcp_call", "weather")
            assert call["output"] == "sunny in Rome"
            await client.create()
            assert spoken(await client.done()) == "It is sunny in Rome."
            await client.send("conversation.item.retrieve", item_id=call["id"])
            assert (await client.event("conversation.item.retrieved"))["item"] == call
            assert "sesame" not in str(client.events)

    run(scenario())


def test_a_tool_that_fails_is_told_to_the_model(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await prepared(client, mcp.tool(), calling("fail"), ANSWER)
            response = await client.ask("Try.")
            assert client.of("response.mcp_call.failed")
            [call] = response["output"]
            assert call["output"] is None
            assert call["error"] == {"type": "tool_execution_error", "message": "No such luck."}
            assert response["status"] == "completed"
            await client.create()
            assert spoken(await client.done()) == "It is Error: No such luck.."

    run(scenario())


@pytest.mark.parametrize("answer", [{}, {"id": "mine"}])
def test_a_call_waits_for_its_approval(
    server: RunningServer, mcp: LocalMcp, answer: dict[str, Any]
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            tool = mcp.tool(require_approval="always")
            await prepared(client, tool, calling("weather", city="Rome"), ANSWER)
            await client.write("The weather?")
            await client.create()
            request = await item_done(client, "mcp_approval_request")
            await client.done()
            assert mcp.calls == []
            item = {
                "type": "mcp_approval_response",
                "approval_request_id": request["id"],
                "approve": True,
            }
            await client.send(CREATE, item=item | answer, previous_item_id=request["id"])
            await client.event("response.mcp_call.in_progress")
            await client.event("response.mcp_call.completed")
            call = await item_done(client, "mcp_call")
            assert call["output"] == "sunny in Rome"
            assert call["approval_request_id"] == request["id"]
            await client.create()
            assert spoken(await client.done()) == "It is sunny in Rome."

    run(scenario())


def test_a_refused_call_is_never_made(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            tool = mcp.tool(require_approval={"never": {"tool_names": ["fail"]}})
            await prepared(client, tool, calling("weather", city="Rome"), ANSWER)
            await client.write("The weather?")
            await client.create()
            request = await item_done(client, "mcp_approval_request")
            item = {
                "type": "mcp_approval_response",
                "approval_request_id": request["id"],
                "approve": False,
            }
            await client.send(CREATE, item=item)
            call = await item_done(client, "mcp_call")
            assert call["error"]["message"] == "The user did not approve the call."
            await client.create()
            assert "did not approve" in spoken(await client.done())
            assert mcp.calls == []

    run(scenario())


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "dead"])
def test_a_server_that_can_not_be_asked_leaves_the_session_usable(
    hasty: RunningServer, silent: bool
) -> None:
    async def scenario(url: str) -> None:
        async with RealtimeClient(hasty) as client:
            tool = {"type": "mcp", "server_label": "gone", "server_url": url}
            await client.play("Fine.", output_modalities=["text"], tools=[tool])
            assert spoken(await client.ask("Hello?")) == "Fine."
            await client.sync()
            if not client.of(FAILED):
                await client.event_that(lambda e: e["type"] == FAILED, FAILED)
            await client.sync()
            [listed] = [
                event["item"]
                for event in client.of(ITEM_DONE)
                if event["item"]["type"] == "mcp_list_tools"
            ]
            assert listed["tools"] == []
            assert spoken(await client.ask("Still there?")) == "Fine."

    with SilentServer() as server:
        run(scenario(server.url if silent else dead_url()))


def test_an_operator_can_switch_mcp_off(mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.update(tools=[mcp.tool()])
            await client.event(FAILED)
            listed = await item_done(client, "mcp_list_tools")
            assert listed["tools"] == []

    with ServeCommand("--mcp", "off") as server:
        run(scenario())


def test_a_tool_that_hangs_is_given_up(hasty: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(hasty) as client:
            await prepared(client, mcp.tool(), calling("hang"), ANSWER)
            response = await client.ask("Wait.")
            [call] = response["output"]
            assert (call["error"]["type"], call["error"]["code"]) == ("http_error", 504)
            assert mcp.let_go.wait(PATIENCE_S)

    run(scenario())


def test_a_cancelled_response_breaks_its_call_off(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await prepared(client, mcp.tool(), calling("hang"), "Fine.", "Fine.")
            await client.write("Wait.")
            await client.create()
            await client.event("response.mcp_call.in_progress")
            assert mcp.hanging.wait(PATIENCE_S)
            await client.send("response.cancel")
            response = await client.done()
            assert response["status"] == "cancelled"
            assert response["output"][0]["error"]["type"] == "tool_execution_error"
            assert mcp.let_go.wait(PATIENCE_S)
            assert spoken(await client.ask("And now?")) == "Fine."

    run(scenario())


@pytest.mark.parametrize("approved", [True, False])
def test_a_session_that_ends_breaks_its_call_off(
    server: RunningServer, mcp: LocalMcp, approved: bool
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            rule = "always" if approved else "never"
            await prepared(client, mcp.tool(require_approval=rule), calling("hang"))
            await client.write("Wait.")
            await client.create()
            if approved:
                request = await item_done(client, "mcp_approval_request")
                item = {
                    "type": "mcp_approval_response",
                    "approval_request_id": request["id"],
                    "approve": True,
                }
                await client.send(CREATE, item=item)
            await client.event("response.mcp_call.in_progress")
            assert mcp.hanging.wait(PATIENCE_S)
            await client.vanish()
        await server.until_idle()
        assert mcp.let_go.wait(PATIENCE_S)

    run(scenario())


def test_a_server_stops_in_the_middle_of_lists_and_calls(mcp: LocalMcp) -> None:
    async def scenario(server: RunningServer) -> None:
        async with RealtimeClient(server) as client:
            await prepared(client, mcp.tool(), calling("hang"))
            await client.write("Wait.")
            await client.create()
            assert mcp.hanging.wait(PATIENCE_S)
            server.ask_to_stop()
            server.ask_to_stop()
            await client.closed()
        await server.stopped()

    with RunningServer() as server:
        run(scenario(server))
    assert mcp.let_go.wait(PATIENCE_S)
    assert not [thread for thread in threading.enumerate() if thread.name == "mcp"]


def test_sessions_do_not_wait_for_each_other(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server, name="a") as first, RealtimeClient(server) as second:
            await prepared(first, mcp.tool(), calling("hang"))
            await prepared(second, mcp.tool(), calling("weather", city="Oslo"))
            await first.write("Wait.")
            await first.create()
            assert mcp.hanging.wait(PATIENCE_S)
            response = await second.ask("The weather?")
            assert response["output"][0]["output"] == "sunny in Oslo"
            await first.send("response.cancel")
            await first.done()

    run(scenario())


def test_a_response_brings_its_own_server(server: RunningServer, mcp: LocalMcp) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(calling("weather", city="Rome"), output_modalities=["text"])
            response = await client.ask("The weather?", tools=[mcp.tool()])
            assert response["output"][0]["output"] == "sunny in Rome"
            assert client.of(LISTED)

    run(scenario())
