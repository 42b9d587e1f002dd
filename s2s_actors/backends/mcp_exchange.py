"""One conversation with one MCP server, by the official client, and how it can fail."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from s2s_actors.protocol.mcp_items import (
    McpHttpError,
    McpProtocolError,
    McpToolError,
    McpToolInfo,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp.types import CallToolResult, Tool

    from s2s_actors.protocol.mcp_items import McpError
    from s2s_actors.protocol.mcp_tools import McpTool

__all__ = ["McpExchange", "McpLimits"]

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_UNREACHABLE, _TIMED_OUT = 502, 504
"""Status codes of a gateway: what stands between client and server is this process."""
_INVALID_RESULT = -32603


@dataclass(frozen=True, slots=True)
class McpLimits:
    """How much of a server is borne.

    Attributes:
        connect_timeout_s: For a TCP and TLS connection.
        list_timeout_s: For a list of tools, with everything before it.
        call_timeout_s: For a call, with everything before it.
        max_tools: Tools of one server; more are left out.
        max_output_chars: Longest output of a call; a longer one is an error.
    """

    connect_timeout_s: float = 5.0
    list_timeout_s: float = 15.0
    call_timeout_s: float = 60.0
    max_tools: int = 256
    max_output_chars: int = 256 * 1024


class McpExchange:
    """Connects for one request. Neither result nor error holds an address or a secret."""

    def __init__(self, server: McpTool, limits: McpLimits) -> None:
        self._server = server
        self._limits = limits
        self._status = 200

    async def list_tools(self) -> tuple[McpToolInfo, ...] | McpError:
        """All tools of the server, page by page."""

        async def ask(client: Client) -> tuple[McpToolInfo, ...]:
            tools: list[McpToolInfo] = []
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                tools += [_info(tool) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None or len(tools) >= self._limits.max_tools:
                    return tuple(tools[: self._limits.max_tools])

        return await self._run(ask, self._limits.list_timeout_s)

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> str | McpError:
        """The output of a tool as text."""

        async def ask(client: Client) -> str | McpError:
            return self._output(await client.call_tool(name, arguments))

        return await self._run(ask, self._limits.call_timeout_s)

    async def _run(
        self, ask: Callable[[Client], Awaitable[_T | McpError]], limit_s: float
    ) -> _T | McpError:
        try:
            async with asyncio.timeout(limit_s), self._client() as client:
                return await ask(client)
        except TimeoutError:
            message = f"The MCP server did not answer within {limit_s:g} s."
            return McpHttpError(code=_TIMED_OUT, message=message)
        except Exception as error:  # noqa: BLE001 - around a connection: a peer can do anything
            return self._failure(error)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        # How long an answer may take is limited as a whole, from outside.
        timeout = httpx2.Timeout(None, connect=self._limits.connect_timeout_s)
        async with httpx2.AsyncClient(
            headers=self._server.request_headers(),
            timeout=timeout,
            event_hooks={"response": [self._note]},
        ) as http:
            transport = streamable_http_client(str(self._server.server_url), http_client=http)
            async with Client(transport, cache=None) as client:
                yield client

    async def _note(self, response: httpx2.Response) -> None:
        # The official client tells no status; streams that it opens besides do not matter.
        if response.request.method == "POST":
            self._status = response.status_code

    def _failure(self, error: Exception) -> McpError:
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        match cause:
            case MCPError() if self._status >= 400:
                message = f"The MCP server refused with HTTP status {self._status}."
                return McpHttpError(code=self._status, message=message)
            case MCPError():
                return McpProtocolError(code=cause.code, message=cause.message)
            case httpx2.HTTPError() | OSError():
                message = "The MCP server can't be reached."
                return McpHttpError(code=_UNREACHABLE, message=message)
            case ValueError():
                message = "The MCP server answered with what is no MCP."
                return McpProtocolError(code=_INVALID_RESULT, message=message)
            case _:
                logger.warning("MCP client failed with %s", type(cause).__name__)
                message = "The MCP server could not be asked."
                return McpProtocolError(code=_INVALID_RESULT, message=message)

    def _output(self, result: CallToolResult) -> str | McpError:
        text = "\n".join(
            part.text if isinstance(part, TextContent) else f"[{part.type}]"
            for part in result.content
        )
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        if result.is_error:
            return McpToolError(message=text or "The tool failed.")
        if len(text) > self._limits.max_output_chars:
            limit = self._limits.max_output_chars
            return McpToolError(message=f"The output is longer than {limit} characters.")
        return text


def _info(tool: Tool) -> McpToolInfo:
    hints = tool.annotations
    shown = hints.model_dump(mode="json", by_alias=True, exclude_none=True) if hints else {}
    return McpToolInfo(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        annotations=shown,
    )
