"""The way to MCP servers: real ones of the official package, dead ones and silent ones."""

from __future__ import annotations

import logging
import threading
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.mcp_base import NoMcp
from s2s_actors.backends.mcp_exchange import McpLimits
from s2s_actors.backends.mcp_http import HttpMcp
from s2s_actors.protocol.mcp_items import (
    McpHttpError,
    McpProtocolError,
    McpToolError,
    McpToolInfo,
)
from s2s_actors.protocol.mcp_tools import McpTool
from s2s_actors.runtime.cancel import CancelToken
from tests.support.mcp_server import LocalMcp, SilentServer, dead_url

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 15.0
SHORT = McpLimits(connect_timeout_s=1.0, list_timeout_s=0.3, call_timeout_s=0.3)


@pytest.fixture
def gateway() -> Iterator[HttpMcp]:
    running = HttpMcp()
    yield running
    running.close()


def server(url: str, **fields: Any) -> McpTool:
    return McpTool(server_label="local", server_url=url, **fields)


def listed(gateway: HttpMcp, url: str, **fields: Any) -> Any:
    answers: Queue[Any] = Queue()
    gateway.list_tools(server(url, **fields), CancelToken(), answers.put)
    return answers.get(timeout=PATIENCE_S)


def called(gateway: HttpMcp, url: str, name: str, **arguments: Any) -> Any:
    answers: Queue[Any] = Queue()
    gateway.call_tool(server(url), name, arguments, CancelToken(), answers.put)
    return answers.get(timeout=PATIENCE_S)


def test_tools_are_listed_with_their_schemas(gateway: HttpMcp) -> None:
    with LocalMcp() as local:
        tools = listed(gateway, local.url)

    assert [tool.name for tool in tools] == ["weather", "fail", "hang", "flood"]
    weather, fail, *_ = tools
    assert isinstance(weather, McpToolInfo)
    assert weather.description == "The weather of a city."
    assert weather.input_schema["required"] == ["city"]
    assert weather.read_only
    assert (fail.description, fail.read_only) == ("", False)


def test_no_more_tools_are_taken_than_the_limit() -> None:
    gateway = HttpMcp(McpLimits(max_tools=2))
    try:
        with LocalMcp() as local:
            assert len(listed(gateway, local.url)) == 2
    finally:
        gateway.close()


def test_calls_give_text_or_the_error_of_the_tool(gateway: HttpMcp) -> None:
    with LocalMcp() as local:
        assert called(gateway, local.url, "weather", city="Rome") == "sunny in Rome"
        assert called(gateway, local.url, "fail") == McpToolError(message="No such luck.")
        flood = called(gateway, local.url, "flood")
    assert isinstance(flood, McpToolError)
    assert "longer than" in flood.message


def test_a_server_wants_an_authorization(
    gateway: HttpMcp, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), LocalMcp(bearer="sesame") as local:
        refused = listed(gateway, local.url, authorization="guess")
        assert isinstance(refused, McpHttpError)
        assert refused.code == 401
        assert len(listed(gateway, local.url, authorization="sesame")) == 4
        assert len(listed(gateway, local.url, headers={"Authorization": "Bearer sesame"})) == 4
    assert "guess" not in caplog.text
    assert "sesame" not in caplog.text


def test_a_server_that_is_not_there(gateway: HttpMcp, caplog: pytest.LogCaptureFixture) -> None:
    for result in (listed(gateway, dead_url()), called(gateway, dead_url(), "weather")):
        assert result == McpHttpError(code=502, message="The MCP server can't be reached.")
    assert "MCP: listing tools failed with HTTP status 502" in caplog.text


def test_a_server_that_never_answers() -> None:
    gateway = HttpMcp(SHORT)
    try:
        with SilentServer() as silent:
            for result in (listed(gateway, silent.url), called(gateway, silent.url, "weather")):
                assert isinstance(result, McpHttpError)
                assert result.code == 504
    finally:
        gateway.close()


def test_a_tool_that_never_answers() -> None:
    gateway = HttpMcp(McpLimits(call_timeout_s=1.0))
    try:
        with LocalMcp() as local:
            result = called(gateway, local.url, "hang")
            assert isinstance(result, McpHttpError)
            assert result.code == 504
            assert local.let_go.wait(PATIENCE_S)
    finally:
        gateway.close()


def test_what_is_no_mcp_server(gateway: HttpMcp) -> None:
    with LocalMcp() as local:
        result = listed(gateway, local.url + "/elsewhere")
    assert isinstance(result, McpHttpError | McpProtocolError)


def test_a_cancelled_request_is_broken_off_and_not_answered(gateway: HttpMcp) -> None:
    answers: Queue[Any] = Queue()
    token = CancelToken()
    with LocalMcp() as local:
        gateway.call_tool(server(local.url), "hang", {}, token, answers.put)
        assert local.hanging.wait(PATIENCE_S)
        token.cancel()
        assert local.let_go.wait(PATIENCE_S)
        # One that is cancelled before it begins never begins.
        gateway.call_tool(server(local.url), "weather", {"city": "Rome"}, token, answers.put)
        assert called(gateway, local.url, "fail") == McpToolError(message="No such luck.")
        assert local.calls == ["hang", "fail"]
    with pytest.raises(Empty):
        answers.get_nowait()


def test_closing_breaks_off_what_runs() -> None:
    gateway = HttpMcp()
    answers: Queue[Any] = Queue()
    with LocalMcp() as local:
        gateway.call_tool(server(local.url), "hang", {}, CancelToken(), answers.put)
        assert local.hanging.wait(PATIENCE_S)
        gateway.close()
        gateway.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "mcp"]
        gateway.list_tools(server(local.url), CancelToken(), answers.put)
    assert answers.empty()


def test_without_a_way_every_request_fails_at_once() -> None:
    answers: Queue[Any] = Queue()
    gateway = NoMcp()
    gateway.list_tools(server("http://x"), CancelToken(), answers.put)
    gateway.call_tool(server("http://x"), "f", {}, CancelToken(), answers.put)
    gateway.close()

    for _ in range(2):
        result = answers.get_nowait()
        assert isinstance(result, McpHttpError)
        assert result.code == 503
