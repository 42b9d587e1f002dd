"""The demo command: a server of its own, a spoken question in, a spoken answer out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from s2s_actors.client.console import INTERRUPTED, show_error
from s2s_actors.client.server_process import ServerProcess, serve_command, termination_unwinds
from s2s_actors.client.talk import TalkOptions, ask, question_pcm
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["QUESTION", "QUESTION_TEXT", "DemoOptions", "run"]

_TIMEOUT_S: Final = 60.0

QUESTION: Final = Path(__file__).with_name("question.flac")
"""The question that is asked by default, after 300 ms of silence.

Generated with Piper and its voice en_US-joe-medium (voice MIT, its recordings CC0).
"""

QUESTION_TEXT: Final = "What is the capital of France?"
"""What :data:`QUESTION` says."""


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


def run(options: DemoOptions, *, server_command: Sequence[str] | None = None) -> int:
    """Run server and client, show the report; return the exit code (0, 1 or 130).

    What goes wrong is one line on standard error. The server never outlives this call,
    whatever ends it (SIGKILL excepted).

    Args:
        options: What to ask, and of which server.
        server_command: Another program than our own server, for tests.
    """
    command = server_command or serve_command(options.serve_args)
    path = options.input if options.input or options.say is not None else QUESTION
    try:
        # A broken question should fail now and not after the models are loaded.
        pcm = question_pcm(path, options.say)
        sys.stderr.write("starting a server ...\n")
        with termination_unwinds(), ServerProcess(command) as server:
            url = server.wait_until_ready()
            talk = TalkOptions(url, output=options.output, timeout_s=_TIMEOUT_S)
            return ask(talk, pcm, _name(options))
    except S2SError as error:
        show_error(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _name(options: DemoOptions) -> str:
    return str(options.input) if options.input else f'"{options.say or QUESTION_TEXT}"'
