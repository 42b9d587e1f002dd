"""Checks that this project's own server is known to fail, each with the reason.

They are strict: a check that passes has to be taken off the list.
"""

from __future__ import annotations

_MCP = "MCP tools are not there yet"

NOT_YET: dict[str, str] = {
    "tools/87-list": _MCP,
    "tools/87-call": _MCP,
    "tools/88": _MCP,
    "tools/89-approve": _MCP,
    "tools/89-refuse": _MCP,
    "tools/mcp-bad": _MCP,
}
