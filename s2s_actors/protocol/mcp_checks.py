"""What a client may set of an MCP server, and what it may leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from msgspec import UNSET
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol.mcp_tools import HIDDEN, McpTool

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SERVERS = 16
"""Servers in one list of tools: each costs connections when it is listed."""

T = TypeVar("T")


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
