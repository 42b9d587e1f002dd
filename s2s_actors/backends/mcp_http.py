"""MCP servers over streamable HTTP.

All sessions share one event loop on a thread of its own, started by the first request. Each
request is a task there with a connection of its own: nothing of one session can reach
another. Cancelling a request cancels its task wherever it waits.

The official client takes half a second to import. It is imported by the first request, on that
thread: a server starts without it, and nobody but who asked first waits for it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from s2s_actors.backends.loop_thread import LoopThread
from s2s_actors.protocol.mcp_items import McpHttpError, McpProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from s2s_actors.backends.mcp_base import Called, Listed
    from s2s_actors.backends.mcp_exchange import McpExchange, McpLimits
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.mcp_tools import McpTool
    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["HttpMcp"]

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class HttpMcp:
    """The gateway of a server process."""

    def __init__(self, limits: McpLimits | None = None) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._loop: LoopThread | None = None
        self._closed = False

    def list_tools(self, server: McpTool, cancel: CancelToken, done: Listed) -> None:
        """Ask a server for its tools."""
        work = _list_tools(server, self._limits)
        self._start(work, cancel, done, "listing tools")

    def call_tool(
        self,
        server: McpTool,
        name: str,
        arguments: dict[str, Any],
        cancel: CancelToken,
        done: Called,
    ) -> None:
        """Call a tool; ``done`` gets its output as text."""
        work = _call_tool(server, self._limits, name, arguments)
        self._start(work, cancel, done, "calling a tool")

    def close(self) -> None:
        """Break off what runs, stop the thread. Idempotent."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()

    def _start(
        self,
        work: Coroutine[Any, Any, _T],
        cancel: CancelToken,
        done: Callable[[_T], None],
        what: str,
    ) -> None:
        with self._lock:
            if self._closed:
                work.close()
                return
            if self._loop is None:
                self._loop = LoopThread("mcp")
            future = self._loop.start(_report(work, done, what))
        forget = cancel.on_cancel(lambda: _drop(future.cancel()))
        future.add_done_callback(lambda _: forget())


async def _list_tools(
    server: McpTool, limits: McpLimits | None
) -> tuple[McpToolInfo, ...] | McpError:
    return await _exchange(server, limits).list_tools()


async def _call_tool(
    server: McpTool, limits: McpLimits | None, name: str, arguments: dict[str, Any]
) -> str | McpError:
    return await _exchange(server, limits).call_tool(name, arguments)


def _exchange(server: McpTool, limits: McpLimits | None) -> McpExchange:
    from s2s_actors.backends.mcp_exchange import McpExchange, McpLimits  # noqa: PLC0415 - above

    return McpExchange(server, limits or McpLimits())


async def _report(work: Coroutine[Any, Any, _T], done: Callable[[_T], None], what: str) -> None:
    result = await work
    if isinstance(result, McpHttpError | McpProtocolError):
        # A client sees only that a list has failed: the operator can see why, though not the words
        # of client or server.
        kind = "HTTP status" if isinstance(result, McpHttpError) else "protocol error"
        logger.warning("MCP: %s failed with %s %d", what, kind, result.code)
    done(result)


def _drop(_: object) -> None:
    """For callbacks that must return nothing."""
