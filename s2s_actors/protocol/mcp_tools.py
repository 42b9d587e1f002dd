"""Tools of the type ``mcp``: settings that name a server, and what they allow of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr, replace

if TYPE_CHECKING:
    from s2s_actors.protocol.mcp_items import McpToolInfo

HIDDEN = "***"
"""Stands for a secret in what the server shows. Sent back, it means the secret that is known."""

T = TypeVar("T")


class _Mcp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of an ``mcp`` tool."""


class McpFilter(_Mcp, frozen=True, kw_only=True):
    """Names some of a server's tools; a tool has to meet all that is given."""

    tool_names: list[str] | UnsetType | None = UNSET
    read_only: bool | UnsetType | None = UNSET

    def matches(self, tool: McpToolInfo) -> bool:
        """Whether the filter names the tool."""
        named = not isinstance(self.tool_names, list) or tool.name in self.tool_names
        return named and (not isinstance(self.read_only, bool) or tool.read_only == self.read_only)


class McpApproval(_Mcp, frozen=True, kw_only=True):
    """Which tools need an approval; for one that is in neither filter it is needed."""

    always: McpFilter | UnsetType | None = UNSET
    never: McpFilter | UnsetType | None = UNSET


class McpTool(
    Struct, frozen=True, kw_only=True, tag_field="type", tag="mcp", forbid_unknown_fields=True
):
    """The tools of an MCP server.

    ``connector_id`` and ``tunnel_id`` belong to the hosted service and are refused by name.
    ``authorization`` and the values of ``headers`` are secrets: they are neither shown nor
    part of the ``repr``. ``allowed_callers`` and ``defer_loading`` are kept without effect.
    """

    server_label: Annotated[str, Meta(min_length=1, max_length=64)]
    server_url: str | UnsetType | None = UNSET
    connector_id: str | UnsetType | None = UNSET
    tunnel_id: str | UnsetType | None = UNSET
    server_description: str | UnsetType | None = UNSET
    authorization: str | UnsetType | None = UNSET
    headers: dict[str, str] | UnsetType | None = UNSET
    allowed_tools: list[str] | McpFilter | UnsetType | None = UNSET
    require_approval: Literal["always", "never"] | McpApproval | UnsetType | None = UNSET
    allowed_callers: list[Literal["direct", "programmatic"]] | UnsetType | None = UNSET
    defer_loading: bool | UnsetType | None = UNSET

    def __repr__(self) -> str:
        return f"McpTool(server_label={self.server_label!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("server_label", self.server_label)]

    def allows(self, tool: McpToolInfo) -> bool:
        """Whether the model may see a tool of the server."""
        match self.allowed_tools:
            case list(names):
                return tool.name in names
            case McpFilter() as chosen:
                return chosen.matches(tool)
            case _:
                return True

    def needs_approval(self, tool: McpToolInfo) -> bool:
        """Whether the client has to be asked before a call."""
        rule = self.require_approval
        if isinstance(rule, McpApproval):
            if isinstance(rule.always, McpFilter) and rule.always.matches(tool):
                return True
            return not (isinstance(rule.never, McpFilter) and rule.never.matches(tool))
        return rule != "never"

    def request_headers(self) -> dict[str, str]:
        """Headers of every request to the server."""
        headers = dict(self.headers) if isinstance(self.headers, dict) else {}
        if isinstance(self.authorization, str):
            scheme = "" if self.authorization.lower().startswith("bearer ") else "Bearer "
            headers["Authorization"] = scheme + self.authorization
        return headers

    def shown(self) -> McpTool:
        """As clients see it: without secrets and nulls."""
        headers = self.headers
        return replace(
            self,
            authorization=HIDDEN if isinstance(self.authorization, str) else UNSET,
            headers=dict.fromkeys(headers, HIDDEN) if isinstance(headers, dict) else UNSET,
            server_url=_given(self.server_url),
            connector_id=_given(self.connector_id),
            tunnel_id=_given(self.tunnel_id),
            server_description=_given(self.server_description),
            allowed_tools=_given(_plain(self.allowed_tools)),
            require_approval=_shown_approval(self.require_approval),
            allowed_callers=_given(self.allowed_callers),
            defer_loading=_given(self.defer_loading),
        )


class McpChoice(
    Struct, frozen=True, kw_only=True, tag_field="type", tag="mcp", forbid_unknown_fields=True
):
    """The model must call a tool of this server, or the one that is named."""

    server_label: str
    name: str | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        """Forget a null: it means the same as no name, and stock clients take none back."""
        if self.name is None:
            force_setattr(self, "name", UNSET)


def _given(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


Filter: TypeAlias = "list[str] | McpFilter | UnsetType | None"


def _plain(chosen: Filter) -> Filter:
    if isinstance(chosen, McpFilter):
        return McpFilter(tool_names=_given(chosen.tool_names), read_only=_given(chosen.read_only))
    return chosen


def _shown_approval(
    rule: str | McpApproval | UnsetType | None,
) -> Literal["always", "never"] | McpApproval:
    if not isinstance(rule, McpApproval):
        return "never" if rule == "never" else "always"
    always, never = _plain(_given(rule.always)), _plain(_given(rule.never))
    return McpApproval(
        always=always if isinstance(always, McpFilter) else UNSET,
        never=never if isinstance(never, McpFilter) else UNSET,
    )
