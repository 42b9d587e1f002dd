"""An MCP server of the official package on a local port, with tools for every mood."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["LocalMcp", "SilentServer", "dead_url"]

_PATIENCE_S = 15.0
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
_TOOLS = [
    Tool(
        name="weather",
        description="The weather of a city.",
        input_schema=_CITY,
        annotations=ToolAnnotations(read_only_hint=True),
    ),
    Tool(name="fail", input_schema={"type": "object"}),
    Tool(name="hang", description="Never answers.", input_schema={"type": "object"}),
    Tool(name="flood", description="Says too much.", input_schema={"type": "object"}),
]


class LocalMcp:
    """Serves in a thread for the length of a ``with`` block.

    Args:
        bearer: What requests have to authorize themselves with; None for anybody.

    Attributes:
        calls: Names of the tools that were called.
        hanging: Set while a call of ``hang`` waits.
        let_go: Set when a call of ``hang`` was broken off.
    """

    def __init__(self, *, bearer: str | None = None) -> None:
        self.calls: list[str] = []
        self.hanging = threading.Event()
        self.let_go = threading.Event()
        self._bearer = bearer
        self._socket = socket.create_server(("127.0.0.1", 0))
        server: Server[Any] = Server("local", on_list_tools=self._list, on_call_tool=self._call)
        config = uvicorn.Config(
            self._guarded(server.streamable_http_app()),
            log_config=None,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="local-mcp"
        )

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"

    def tool(self, label: str = "local", **fields: Any) -> dict[str, Any]:
        """The server as a tool of a session, by default without approvals."""
        return {
            "type": "mcp",
            "server_label": label,
            "server_url": self.url,
            "require_approval": "never",
            **fields,
        }

    def __enter__(self) -> Self:
        self._thread.start()
        deadline_s = time.monotonic() + _PATIENCE_S
        while not self._server.started:
            assert time.monotonic() < deadline_s, "the MCP server did not start"
            time.sleep(0.01)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_PATIENCE_S)
        self._socket.close()
        assert not self._thread.is_alive(), "the MCP server did not stop"

    def _guarded(self, app: ASGIApp) -> ASGIApp:
        async def guard(scope: Scope, receive: Receive, send: Send) -> None:
            wanted = f"Bearer {self._bearer}".encode()
            refused = (
                self._bearer and dict(scope.get("headers", ())).get(b"authorization") != wanted
            )
            if scope["type"] == "http" and refused:
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            await app(scope, receive, send)

        return guard

    async def _list(self, _context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=_TOOLS)

    async def _call(self, _context: Any, params: Any) -> CallToolResult:
        self.calls.append(params.name)
        match params.name:
            case "weather":
                return _text(f"sunny in {params.arguments['city']}")
            case "flood":
                return _text("x" * 300_000)
            case "hang":
                return await self._hang()
            case _:
                return _text("No such luck.", is_error=True)

    async def _hang(self) -> CallToolResult:
        self.hanging.set()
        try:
            await asyncio.sleep(_PATIENCE_S * 4)
        finally:
            self.let_go.set()
        return _text("late")


def _text(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


class SilentServer:
    """Takes connections and never answers, for the length of a ``with`` block."""

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def url(self) -> str:
        """Where it does not answer."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"


def dead_url() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
