"""MCP servers that the operator allows: clients name addresses, and not all are theirs to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from s2s_actors.backends.mcp_base import NoMcp
from s2s_actors.errors import SetupError
from s2s_actors.protocol.mcp_items import McpHttpError

if TYPE_CHECKING:
    from s2s_actors.backends.mcp_base import Called, Listed, McpGateway
    from s2s_actors.protocol.mcp_tools import McpTool
    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["HostList", "McpOnHosts"]

_FLAG: Final = "--mcp-hosts"
_REFUSED: Final = McpHttpError(
    code=403, message="The operator of this server does not allow that MCP server."
)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class HostList:
    """Which addresses are allowed.

    Args:
        text: Hosts with commas between them: ``tools.example.org`` with any port,
            ``127.0.0.1:9000`` with that one, ``*.example.org`` for what is below a domain.

    Raises:
        SetupError: One of them is no host.
    """

    def __init__(self, text: str) -> None:
        entries = [each.strip().lower() for each in text.split(",") if each.strip()]
        self._entries = [_parsed(entry) for entry in entries]

    def has(self, url: str) -> bool:
        """Whether an ``http`` or ``https`` address is on the list."""
        parts = urlsplit(url)
        try:
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
        except (KeyError, ValueError):
            return False
        name = (parts.hostname or "").rstrip(".")
        return any(_fits(name, port, *entry) for entry in self._entries)


class McpOnHosts:
    """Lets requests through to servers of the list; others fail at once, and nothing is sent.

    Redirections are not followed by any gateway, so the list can't be led astray.
    """

    def __init__(self, inner: McpGateway, hosts: HostList) -> None:
        self._inner = inner
        self._hosts = hosts
        self._elsewhere = NoMcp(_REFUSED)

    def list_tools(self, server: McpTool, cancel: CancelToken, done: Listed) -> None:
        """Ask a server for its tools, if it is allowed."""
        self._way_to(server).list_tools(server, cancel, done)

    def call_tool(
        self,
        server: McpTool,
        name: str,
        arguments: dict[str, Any],
        cancel: CancelToken,
        done: Called,
    ) -> None:
        """Call a tool of a server, if it is allowed."""
        self._way_to(server).call_tool(server, name, arguments, cancel, done)

    def close(self) -> None:
        """Close the gateway behind."""
        self._inner.close()

    def _way_to(self, server: McpTool) -> McpGateway:
        return self._inner if self._hosts.has(str(server.server_url)) else self._elsewhere


def _parsed(entry: str) -> tuple[str, int | None]:
    """Name and port of an entry; the name keeps its ``*.``."""
    try:
        parts = urlsplit(f"//{entry}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port = "", None
    plain = name.removeprefix("*.")
    shown = f"[{name}]" if ":" in name else name
    if not plain or "*" in plain or entry not in {shown, f"{shown}:{port}"}:
        raise SetupError(
            f"{_FLAG}: {entry!r} is no host", hint="such as tools.example.org or 127.0.0.1:9000"
        )
    return name, port


def _fits(name: str, port: int, wanted: str, wanted_port: int | None) -> bool:
    if wanted_port not in {None, port}:
        return False
    if wanted.startswith("*."):
        return name.endswith(wanted[1:])
    return name == wanted
