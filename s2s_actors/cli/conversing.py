"""The commands that talk to a server: talk, demo, pool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from s2s_actors.cli.teaching import taught
from s2s_actors.client.address import DEFAULT_URL
from s2s_actors.errors import SetupError

__all__ = ["Timeout", "demo", "pool", "talk"]

Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Longest silence of the server."),
]
"""How long a command waits for a server."""
_Url = Annotated[str, typer.Option("--url", metavar="URL", help="Address of the server.")]
_Input = Annotated[
    Path | None,
    typer.Option("--input", metavar="FILE", help="Recording with the question (WAV, FLAC, MP3)."),
]
_Say = Annotated[
    str | None,
    typer.Option("--say", metavar="TEXT", help="Question to speak with the local voice."),
]


def talk(  # noqa: PLR0913 - one for each flag
    *,
    url: _Url = DEFAULT_URL,
    input_: _Input = None,
    say: _Say = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="WAV to write the answer to.")
    ] = None,
    instructions: Annotated[
        str | None,
        typer.Option("--instructions", metavar="TEXT", help="System prompt of the session."),
    ] = None,
    timeout: Timeout = 30.0,
) -> int:
    """Hold a conversation (the help text is set below)."""
    _refuse_two_questions(input_, say)
    from s2s_actors.client.talk import TalkOptions, run  # noqa: PLC0415 - brings audio libraries

    options = TalkOptions(
        url=url,
        input=input_,
        output=output,
        say=say,
        instructions=instructions,
        timeout_s=timeout,
    )
    return run(options)


talk.__doc__ = taught(
    "Talk with a running server, by file or by microphone.\n\n"
    "Microphone and speaker need the extra s2s_actors[microphone]. "
    "A server that wants a key gets the one in the environment variable S2S_API_KEY; "
    "SSL_CERT_FILE names a certificate to trust.",
    "s2s-actors talk",
    "s2s-actors talk --input question.wav --output answer.wav",
    's2s-actors talk --say "What is the capital of France?"',
    "s2s-actors talk --url ws://192.0.2.7:8765/v1/realtime",
)


def demo(
    *,
    input_: _Input = None,
    say: _Say = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="WAV to write the answer to.")
    ] = Path("out/answer.wav"),
    serve_args: Annotated[
        list[str] | None,
        typer.Argument(metavar="SERVE_FLAG", help="Flags for the server, after a --."),
    ] = None,
) -> int:
    """Run the demonstration (the help text is set below)."""
    _refuse_two_questions(input_, say)
    from s2s_actors.client.demo import DemoOptions, run  # noqa: PLC0415 - brings audio libraries

    options = DemoOptions(input=input_, say=say, output=output, serve_args=tuple(serve_args or ()))
    return run(options)


demo.__doc__ = taught(
    "Start a server and ask it a spoken question.\n\n"
    "The spoken answer is written to a file. "
    "Shows what was heard and answered, every event with its time, and where the time went.",
    "s2s-actors demo",
    "s2s-actors demo --input question.wav",
    's2s-actors demo --say "What is the capital of France?" --output answer.wav',
    "s2s-actors demo -- --llm openai --llm-base-url http://127.0.0.1:8000/v1 --llm-model m",
)


def pool(
    *,
    url: _Url = DEFAULT_URL,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay and show changes as they happen.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the server's answer as it is.")
    ] = False,
) -> int:
    """Show the pool (the help text is set below)."""
    from s2s_actors.client.pool_watch import run  # noqa: PLC0415 - brings the http client

    return run(url, watch=watch, as_json=as_json)


pool.__doc__ = taught(
    "Show every unit of a running server and what it does.\n\n"
    "A server that wants a key gets the one in the environment variable S2S_API_KEY, and shows "
    "less without one.",
    "s2s-actors pool",
    "s2s-actors pool --watch",
    "s2s-actors pool --json --url http://192.0.2.7:8765",
)


def _refuse_two_questions(input_: Path | None, say: str | None) -> None:
    if input_ is not None and say is not None:
        raise SetupError("--input and --say exclude each other: there is one question")
