"""What the actors ask of MCP servers: to be told later, and never to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from s2s_actors.protocol.mcp_items import McpHttpError

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.mcp_tools import McpTool
    from s2s_actors.runtime.cancel import CancelToken

    Listed: TypeAlias = Callable[[tuple[McpToolInfo, ...] | McpError], None]
    Called: TypeAlias = Callable[[str | McpError], None]

__all__ = ["McpGateway", "NoMcp"]


class McpGateway(Protocol):
    """The way to MCP servers, one for the process.

    Both requests return at once, may come from any thread, and are answered once, in a thread
    of the gateway: with what was asked for, or with the reason why not. Every request has a
    time limit. One whose token is cancelled is broken off and not answered.
    """

    def list_tools(self, server: McpTool, cancel: CancelToken, done: Listed) -> None:
        """Ask a server for its tools."""
        ...

    def call_tool(
        self,
        server: McpTool,
        name: str,
        arguments: dict[str, Any],
        cancel: CancelToken,
        done: Called,
    ) -> None:
        """Call a tool; ``done`` gets its output as text."""
        ...

    def close(self) -> None:
        """Break off what runs, and free what is held. Idempotent."""
        ...


_UNAVAILABLE: Final = McpHttpError(code=503, message="This server does not connect to MCP servers.")


class NoMcp:
    """Stands where there is no way to MCP servers: every request fails at once.

    Args:
        error: Why.
    """

    def __init__(self, error: McpHttpError = _UNAVAILABLE) -> None:
        self._error = error

    def list_tools(self, server: McpTool, cancel: CancelToken, done: Listed) -> None:
        """Fail."""
        del server, cancel
        done(self._error)

    def call_tool(
        self,
        server: McpTool,
        name: str,
        arguments: dict[str, Any],
        cancel: CancelToken,
        done: Called,
    ) -> None:
        """Fail."""
        del server, name, arguments, cancel
        done(self._error)

    def close(self) -> None:
        """Nothing is held."""
