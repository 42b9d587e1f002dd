"""The operator's list of hosts for MCP servers: what is on it, and what gets through."""

from __future__ import annotations

import socket
from queue import Queue
from typing import Any

import pytest

from s2s_actors.backends.mcp_hosts import HostList, McpOnHosts
from s2s_actors.backends.mcp_http import HttpMcp
from s2s_actors.errors import SetupError
from s2s_actors.protocol.mcp_tools import McpTool
from s2s_actors.runtime.cancel import CancelToken
from tests.support.mcp_server import LocalMcp

LIST = HostList("tools.example.org, 127.0.0.1:9000,*.example.net, [::1]:9000")


@pytest.mark.parametrize(
    "url",
    [
        "https://tools.example.org/mcp",
        "http://tools.example.org:8080/mcp",
        "https://TOOLS.example.org./mcp",
        "http://127.0.0.1:9000/",
        "https://a.example.net/x",
        "https://a.b.example.net/x",
        "http://[::1]:9000/mcp",
    ],
)
def test_what_is_on_the_list_is_found(url: str) -> None:
    assert LIST.has(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/mcp",
        "https://tools.example.org.evil.test/",
        "https://eviltools.example.org/",
        "https://tools.example.org@evil.test/",
        "https://evil.test/tools.example.org",
        "https://evil.test#@tools.example.org",
        "http://127.0.0.1:9001/",
        "http://127.0.0.1/",
        "https://example.net/x",
        "https://evilexample.net/x",
        "http://169.254.169.254/latest",
        "http://[::1]:9001/",
        "ftp://tools.example.org/",
        "https://tools.example.org:99999/",
        "//tools.example.org/",
        "",
    ],
)
def test_what_is_not_on_the_list_is_not(url: str) -> None:
    assert not LIST.has(url)


@pytest.mark.parametrize(
    "entry", ["https://x.test", "x.test/path", "user@x.test", "x.test:high", "*", "*.", "a.*.test"]
)
def test_what_is_no_host_is_refused_by_the_name_of_the_flag(entry: str) -> None:
    with pytest.raises(SetupError, match="--mcp-hosts"):
        HostList(f"tools.example.org,{entry}")


def test_an_empty_list_has_nothing() -> None:
    assert not HostList("").has("https://tools.example.org/")


def asked(gateway: McpOnHosts, url: str) -> list[Any]:
    """What a list of the tools, and a call of one, are answered with."""
    answers: Queue[Any] = Queue()
    server = McpTool(server_label="local", server_url=url)
    gateway.list_tools(server, CancelToken(), answers.put)
    gateway.call_tool(server, "weather", {"city": "Rome"}, CancelToken(), answers.put)
    return [answers.get(timeout=15) for _ in range(2)]


def test_a_server_on_the_list_is_asked() -> None:
    with LocalMcp() as local:
        gateway = McpOnHosts(HttpMcp(), HostList("127.0.0.1"))
        try:
            assert "sunny in Rome" in asked(gateway, local.url)
        finally:
            gateway.close()


def test_to_a_server_that_is_not_on_the_list_nothing_is_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        gateway = McpOnHosts(HttpMcp(), HostList("127.0.0.1:1"))
        try:
            answers = asked(gateway, f"http://127.0.0.1:{other.getsockname()[1]}/mcp")
        finally:
            gateway.close()
        assert [answer.code for answer in answers] == [403, 403]
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


def test_a_redirection_to_another_server_is_not_followed() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        socket.create_server(("127.0.0.1", 0)) as listed,
    ):
        target = f"http://127.0.0.1:{other.getsockname()[1]}/mcp"
        gateway = McpOnHosts(HttpMcp(), HostList(f"127.0.0.1:{listed.getsockname()[1]}"))
        answers: Queue[Any] = Queue()
        server = McpTool(
            server_label="local", server_url=f"http://127.0.0.1:{listed.getsockname()[1]}/mcp"
        )
        try:
            gateway.list_tools(server, CancelToken(), answers.put)
            peer, _ = listed.accept()
            with peer:
                peer.recv(65536)
                head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}\r\n"
                peer.sendall(f"{head}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
                assert answers.get(timeout=15).message
        finally:
            gateway.close()
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
