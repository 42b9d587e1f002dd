"""Programs that run beside the checks."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "STOCK_JAVASCRIPT",
    "STOCK_PYTHON",
    "own_server",
    "running",
    "scripted_model",
    "small_mcp_server",
]

_HERE = Path(__file__).parent
_ADDRESS = re.compile(r"\b(?:ws|http)s?://\S+")
SCRIPT = _HERE.with_name("script.toml")
STOCK_PYTHON = _HERE / "stock_agents.py"
STOCK_JAVASCRIPT = _HERE / "stock_agents.mjs"


@contextlib.contextmanager
def running(*command: str) -> Iterator[str]:
    """A program, killed at the end; yields the address in the first line that it prints.

    Raises:
        RuntimeError: It ended, or its first line holds no address.
    """
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = _ADDRESS.search(line)
            if found is None:
                complaints.seek(0)
                last = complaints.read().strip()[-500:]
                raise RuntimeError(f"{' '.join(command)} did not start: {line}{last}")
            yield found[0]
        finally:
            process.kill()
            process.communicate()


def scripted_model() -> contextlib.AbstractContextManager[str]:
    """The model that answers by rules."""
    return running(sys.executable, str(_HERE / "scripted_model.py"))


def small_mcp_server() -> contextlib.AbstractContextManager[str]:
    """The MCP server with one tool."""
    return running(sys.executable, str(_HERE / "mcp_server.py"))


def own_server(model_url: str, *flags: str) -> contextlib.AbstractContextManager[str]:
    """The server of the project that this folder belongs to, with scripted ears and voice."""
    scripted = ("vad", "stt", "tts", "turn")
    models = tuple(part for kind in scripted for part in (f"--{kind}", "scripted"))
    llm = ("--llm", "openai", "--llm-base-url", model_url, "--llm-model", "script")
    command = (sys.executable, "-m", "s2s_actors", "serve", "--port", "0", "--log-level", "error")
    return running(*command, *models, *llm, "--script", str(SCRIPT), *flags)
