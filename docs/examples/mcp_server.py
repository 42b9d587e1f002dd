"""An MCP server with one tool, to try things out.

python mcp_server.py [PORT]
"""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")


@server.tool()
async def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


if __name__ == "__main__":
    server.run("streamable-http", port=int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
