"""A small MCP server over HTTP with one tool, for servers that can call it.

It answers each JSON-RPC request with plain JSON, as the streamable HTTP transport allows.
Start it by itself with::

    python mcp_server.py PORT
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["main"]

Body = dict[str, Any]

_TOOL: Body = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def result(request: Body) -> Body | None:
    """The result of a request; None if there is no such method."""
    params = request.get("params") or {}
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-03-26"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "conformance", "version": "1"},
            }
        case "tools/list":
            return {"tools": [_TOOL]}
        case "tools/call":
            city = (params.get("arguments") or {}).get("city", "nowhere")
            return {"content": [{"type": "text", "text": f"sunny in {city}"}], "isError": False}
        case "ping":
            return {}
        case _:
            return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(405)

    def do_DELETE(self) -> None:
        self._answer(200)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in request:
            self._answer(202)
            return
        found = result(request)
        head: Body = {"jsonrpc": "2.0", "id": request["id"]}
        error = {"code": -32601, "message": "Method not found"}
        self._answer(200, head | ({"error": error} if found is None else {"result": found}))

    def _answer(self, status: int, body: Body | None = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


def main() -> None:
    """Serve until killed; the first line tells the address."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    sys.stdout.write(f"listening on http://127.0.0.1:{server.server_port}/mcp\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
