"""The talk command: one conversation with a server, spoken from a file or a microphone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TalkOptions", "run"]


@dataclass(frozen=True, slots=True)
class TalkOptions:
    """What the command line says.

    Attributes:
        url: The server: ``ws://host:port`` or the full address of its Realtime endpoint.
        input: WAV, FLAC or MP3 that holds what the user says; None for the microphone.
        output: WAV that the answer is written to, None to write none.
        say: Text to speak with the local voice, instead of ``input``.
        instructions: System prompt for the session, None for the server's own.
        timeout_s: Longest time that nothing may happen before the client gives up.
    """

    url: str = "ws://127.0.0.1:8765/v1/realtime"
    input: Path | None = None
    output: Path | None = None
    say: str | None = None
    instructions: str | None = None
    timeout_s: float = 30.0


def run(options: TalkOptions) -> int:
    """Hold the conversation, show the report; return the exit code (0, 1 or 130)."""
    raise NotImplementedError(options)
