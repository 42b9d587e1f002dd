"""The pool command: shows every unit of a running server, once or live."""

from __future__ import annotations

__all__ = ["run"]


def run(url: str, *, watch: bool = False, as_json: bool = False) -> int:
    """Show ``GET /v1/pool`` of the server at ``url``; return the exit code (0, 1 or 130)."""
    raise NotImplementedError(url, watch, as_json)
