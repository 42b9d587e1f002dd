"""The demo command: a server of its own, a spoken question in, a spoken answer out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["DemoOptions", "run"]


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command line says.

    Attributes:
        input: WAV, FLAC or MP3 with the question; None for the one that comes along.
        say: Text to speak as the question, instead of ``input``.
        output: WAV that the answer is written to.
        serve_args: More arguments for ``s2s-actors serve`` (``("--llm", "openai")``).
    """

    input: Path | None = None
    say: str | None = None
    output: Path = Path("out/answer.wav")
    serve_args: tuple[str, ...] = ()


def run(options: DemoOptions) -> int:
    """Run server and client, show the report; return the exit code (0, 1 or 130)."""
    raise NotImplementedError(options)
