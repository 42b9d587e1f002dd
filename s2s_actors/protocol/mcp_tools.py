"""Tools of the type ``mcp``: settings that name a server, and what they allow of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from s2s_actors.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.protocol.mcp_items import McpToolInfo

MAX_SERVERS = 16
"""Servers in one list of tools: each costs connections when it is listed."""
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


def settled(tools: Sequence[T], known: Sequence[object], *, path: str, reuse: bool) -> list[T]:
    """Tools as they hold from now on: checked, with the secrets that are known already.

    Args:
        tools: What the client sent; only those of the type ``mcp`` are looked at.
        known: Tools that hold so far.
        path: Where ``tools`` are in the client event.
        reuse: Whether a label alone may stand for a server that is known.

    Raises:
        ClientError: Naming the field at fault.
    """
    before = {tool.server_label: tool for tool in known if isinstance(tool, McpTool)}
    labels: set[str] = set()
    result: list[T] = []
    for index, tool in enumerate(tools):
        if isinstance(tool, McpTool):
            here = f"{path}[{index}]"
            if tool.server_label in labels:
                raise _invalid(f"{here}.server_label", "it names another server already")
            labels.add(tool.server_label)
            if len(labels) > MAX_SERVERS:
                raise _invalid(here, f"there are more than {MAX_SERVERS} MCP servers")
            settled_tool = _settled(tool, before.get(tool.server_label), here, reuse=reuse)
            result.append(settled_tool)  # type: ignore[arg-type] # it is of the same type
        else:
            result.append(tool)
    return result


def _settled(tool: McpTool, known: McpTool | None, path: str, *, reuse: bool) -> McpTool:
    for name in ("connector_id", "tunnel_id"):
        if isinstance(getattr(tool, name), str):
            raise _invalid(f"{path}.{name}", "only servers with a 'server_url' can be reached")
    if not isinstance(tool.server_url, str):
        if known is None or not reuse:
            raise ClientError(
                "missing_required_parameter",
                f"Missing required parameter: '{path}.server_url'.",
                param=f"{path}.server_url",
            )
        given = {
            name: value
            for name in tool.__struct_fields__
            if (value := getattr(tool, name)) is not None and value is not UNSET
        }
        tool = replace(known, **given)
    tool = _with_secrets(tool, known)
    _check_url(str(tool.server_url), f"{path}.server_url")
    if isinstance(tool.authorization, str):
        _check_header("authorization", tool.authorization, f"{path}.authorization")
    for name, value in tool.headers.items() if isinstance(tool.headers, dict) else ():
        _check_header(name, value, f"{path}.headers")
    return tool


def _with_secrets(tool: McpTool, known: McpTool | None) -> McpTool:
    """A client that sends back what it was shown means what it sent before."""
    if known is None or known.server_url != tool.server_url:
        return tool
    if tool.authorization == HIDDEN:
        tool = replace(tool, authorization=known.authorization)
    if isinstance(tool.headers, dict) and isinstance(known.headers, dict):
        secrets = known.headers
        headers = {
            name: secrets.get(name, value) if value == HIDDEN else value
            for name, value in tool.headers.items()
        }
        tool = replace(tool, headers=headers)
    return tool


def _check_url(url: str, path: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not url.isascii() or not url.isprintable():
        raise _invalid(path, "an address that begins with http:// or https:// is needed")


def _check_header(name: str, value: str, path: str) -> None:
    plain = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    if not plain or not value.isascii() or not (value.isprintable() or not value):
        raise _invalid(path, "HTTP headers are made of printable ASCII characters")


def _invalid(path: str, why: str) -> ClientError:
    return ClientError("invalid_value", f"Invalid '{path}': {why}.", param=path)


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
