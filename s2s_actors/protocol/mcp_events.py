"""What the server sends about MCP servers and their tools: one struct an event."""

from __future__ import annotations

import secrets
from typing import TypeAlias

from msgspec import Struct, field

from s2s_actors.protocol.ids import event_id


def padding() -> str:
    """Hides how long a delta is: a new text each time. A stock client drops deltas without it."""
    return secrets.token_urlsafe(6)


class _Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """An event about one item."""

    event_id: str = field(default_factory=event_id)
    item_id: str


class McpListInProgress(_Event, frozen=True, kw_only=True, tag="mcp_list_tools.in_progress"):
    """A server is asked for its tools."""


class McpListCompleted(_Event, frozen=True, kw_only=True, tag="mcp_list_tools.completed"):
    """The tools of a server are known."""


class McpListFailed(_Event, frozen=True, kw_only=True, tag="mcp_list_tools.failed"):
    """The tools of a server can't be had; its item stays empty."""


class _OfCall(_Event, frozen=True, kw_only=True):
    """An event about a call, wherever its response is by now."""

    output_index: int


class McpCallInProgress(_OfCall, frozen=True, kw_only=True, tag="response.mcp_call.in_progress"):
    """A call is on its way to the server."""


class McpCallCompleted(_OfCall, frozen=True, kw_only=True, tag="response.mcp_call.completed"):
    """A call has its output."""


class McpCallFailed(_OfCall, frozen=True, kw_only=True, tag="response.mcp_call.failed"):
    """A call has failed, or was broken off; its item has the error."""


class McpArgumentsDelta(
    _OfCall, frozen=True, kw_only=True, tag="response.mcp_call_arguments.delta"
):
    """More of a call's arguments."""

    response_id: str
    delta: str
    obfuscation: str


class McpArgumentsDone(_OfCall, frozen=True, kw_only=True, tag="response.mcp_call_arguments.done"):
    """All of a call's arguments."""

    response_id: str
    arguments: str


McpEvent: TypeAlias = (
    McpListInProgress
    | McpListCompleted
    | McpListFailed
    | McpCallInProgress
    | McpCallCompleted
    | McpCallFailed
    | McpArgumentsDelta
    | McpArgumentsDone
)
