"""Conversation items about tools of MCP servers, as they stand on the wire.

Unlike other items they have neither ``object`` nor ``status``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import UNSET, Struct, UnsetType


class McpToolInfo(Struct, frozen=True, kw_only=True):
    """A tool of an MCP server; a stock client drops tools whose ``description`` is no string."""

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    annotations: dict[str, Any] | UnsetType = UNSET

    @property
    def read_only(self) -> bool:
        """Whether the server says that the tool changes nothing."""
        hints = {} if isinstance(self.annotations, UnsetType) else self.annotations
        return hints.get("readOnlyHint") is True


class _McpError(Struct, frozen=True, kw_only=True, tag_field="type"):
    """Why a server could not be asked, or a call gave no result."""

    message: str


class McpProtocolError(_McpError, frozen=True, kw_only=True, tag="protocol_error"):
    """The server answered with a JSON-RPC error, or with what is no MCP."""

    code: int


class McpHttpError(_McpError, frozen=True, kw_only=True, tag="http_error"):
    """The server could not be reached, did not answer in time, or refused by an HTTP status."""

    code: int


class McpToolError(_McpError, frozen=True, kw_only=True, tag="tool_execution_error"):
    """The tool ran and failed, or was not let run."""


McpError: TypeAlias = McpProtocolError | McpHttpError | McpToolError


class _McpItem(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """An entry of the conversation. An empty ``id`` means that none has been given yet."""

    id: str = ""


class McpListTools(_McpItem, frozen=True, kw_only=True, tag="mcp_list_tools"):
    """The tools of a server; empty until they are known, or if they can't be had."""

    server_label: str
    tools: tuple[McpToolInfo, ...] = ()


class McpApprovalRequest(_McpItem, frozen=True, kw_only=True, tag="mcp_approval_request"):
    """A call that the client has to allow first; ``arguments`` is JSON text."""

    server_label: str
    name: str
    arguments: str


class McpApprovalResponse(_McpItem, frozen=True, kw_only=True, tag="mcp_approval_response"):
    """The client's decision about a call."""

    approval_request_id: str
    approve: bool
    reason: str | UnsetType | None = UNSET


class McpCall(_McpItem, frozen=True, kw_only=True, tag="mcp_call"):
    """A call of a server's tool.

    ``output`` is null until there is one and must be present: a stock client crashes without
    the key. A call that is over has an output or an error.
    """

    server_label: str
    name: str
    arguments: str = ""
    approval_request_id: str | UnsetType = UNSET
    output: str | None = None
    error: McpError | UnsetType = UNSET

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.output is not None or not isinstance(self.error, UnsetType)

    @property
    def result(self) -> str:
        """What the language model gets to read."""
        if isinstance(self.error, UnsetType):
            return self.output or ""
        return f"Error: {self.error.message}"


McpItem: TypeAlias = McpListTools | McpApprovalRequest | McpApprovalResponse | McpCall
