"""The bench command: measures a server as a caller would feel it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from s2s_actors.cli.conversing import Timeout  # noqa: TC001 - typer reads the annotations
from s2s_actors.cli.teaching import taught
from s2s_actors.client.address import DEFAULT_URL
from s2s_actors.client.bench.options import (
    SCENARIOS,
    BenchOptions,
    Eagerness,
    ScenarioName,
    TurnDetection,
)
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bench"]

_ALL = "all"


def bench(  # noqa: PLR0913 - one for each flag
    *,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help=f"Address of the server.  [default: {DEFAULT_URL}, or a server of its own if "
            "SERVE_FLAGs or --serve are given]",
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare", metavar="URL", help="A second server, measured in turn with the first."
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar=f"[{'|'.join((*SCENARIOS, _ALL))}]",
            help="What to measure; may be repeated.  [default: turns]",
        ),
    ] = None,
    sessions: Annotated[
        int, typer.Option("--sessions", metavar="N", min=1, help="Sessions at once.")
    ] = 1,
    turns: Annotated[
        int, typer.Option("--turns", metavar="N", min=1, help="Turns of each session, or visits.")
    ] = 10,
    warm_up: Annotated[
        int,
        typer.Option("--warm-up", metavar="N", min=0, help="How many of them do not count."),
    ] = 0,
    audio: Annotated[
        list[Path] | None,
        typer.Option(
            "--audio", metavar="FILE", help="Recording to say (WAV, FLAC, MP3); may be repeated."
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="What is said in them: file, tab, text; a line each.",
        ),
    ] = None,
    turn_detection: Annotated[
        TurnDetection,
        typer.Option("--turn-detection", help="How turns end; as-is leaves it to the server."),
    ] = "server_vad",
    window: Annotated[
        int | None,
        typer.Option(
            "--window", metavar="MS", min=0, help="Silence that ends a turn, with server_vad."
        ),
    ] = None,
    eagerness: Annotated[
        Eagerness | None,
        typer.Option("--eagerness", help="Of semantic_vad."),
    ] = None,
    instructions: Annotated[
        str | None,
        typer.Option("--instructions", metavar="TEXT", help="System prompt for turns and pauses."),
    ] = None,
    stagger: Annotated[
        float,
        typer.Option(
            "--stagger", metavar="SECONDS", min=0, help="Time between the questions of a burst."
        ),
    ] = 0.0,
    answer_tokens: Annotated[
        int | None,
        typer.Option(
            "--answer-tokens",
            metavar="N",
            min=1,
            max=4096,
            help="The longest answer (max_output_tokens): small models don't know when to stop.",
        ),
    ] = None,
    duration: Annotated[
        float,
        typer.Option("--duration", metavar="SECONDS", min=1, help="Length of the soak or crowd."),
    ] = 60.0,
    sweep: Annotated[
        str | None,
        typer.Option("--sweep", metavar="N,N,...", help="Sizes of the crowd, each in its turn."),
    ] = None,
    talking: Annotated[
        float,
        typer.Option(
            "--talking", metavar="PERCENT", min=0, max=50, help="Share of a crowd that speaks."
        ),
    ] = 5.0,
    piece: Annotated[
        int,
        typer.Option("--piece", metavar="MS", min=5, max=500, help="Audio in an event of a crowd."),
    ] = 20,
    timeout: Timeout = 30.0,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Where the whole result goes.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Where a page with charts goes.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Start a server for the run, and stop it afterwards.")
    ] = False,
    serve_args: Annotated[
        list[str] | None,
        typer.Argument(metavar="SERVE_FLAG", help="Flags for a server of its own, after a --."),
    ] = None,
) -> int:
    """Measure a server (the help text is set below)."""
    own = serve or bool(serve_args)
    _refuse_nonsense(url=url, own=own, turns=turns, warm_up=warm_up)
    from s2s_actors.client.bench.run import run  # noqa: PLC0415 - brings audio libraries

    options = BenchOptions(
        url=None if own else url or DEFAULT_URL,
        compare=compare,
        scenarios=_scenarios(scenario or ["turns"]),
        sessions=sessions,
        turns=turns,
        warm_up=warm_up,
        audio=tuple(audio or ()),
        reference=reference,
        turn_detection=turn_detection,
        window_ms=window,
        eagerness=eagerness,
        instructions=instructions,
        answer_tokens=answer_tokens,
        stagger_s=stagger,
        duration_s=duration,
        sweep=_sweep(sweep, scenario or []),
        talking_percent=talking,
        piece_ms=piece,
        timeout_s=timeout,
        json=json,
        html=html,
        serve_args=tuple(serve_args or ()),
        command=shlex.join(["s2s-actors", *sys.argv[1:]]),
    )
    return run(options)


bench.__doc__ = taught(
    "Measure what a caller would feel, on any Realtime server.\n\n"
    "Speaks to it in real time, as a microphone does, and shows how long answers take (p50, p90, "
    "p99), whom it cuts off, how it takes interruptions and noise. Exit code 1: something could "
    "not be measured. A server that wants a key gets the one in S2S_API_KEY.",
    "s2s-actors bench",
    "s2s-actors bench --scenario all --html bench.html",
    "s2s-actors bench --sessions 8 --turns 20 --json bench.json",
    "s2s-actors bench --url ws://127.0.0.1:8765 --compare ws://127.0.0.1:8766 --window 200",
    "s2s-actors bench --audio a.wav --audio b.wav --reference texts.tsv",
    "s2s-actors bench --scenario burst --sessions 8 --stagger 1.3",
    "s2s-actors bench --scenario soak --sessions 4 --duration 600",
    "s2s-actors bench --scenario crowd --sessions 100 -- --stt scripted --llm scripted",
    "s2s-actors bench -- --llm openai --llm-base-url http://127.0.0.1:8000/v1 --llm-model m",
)


def _refuse_nonsense(*, url: str | None, own: bool, turns: int, warm_up: int) -> None:
    if url is not None and own:
        raise SetupError("--url and a server of its own exclude each other")
    if warm_up >= turns:
        raise SetupError(
            "--warm-up leaves no turn to count", hint=f"set --turns to more than {warm_up}"
        )


def _scenarios(wanted: Sequence[str]) -> tuple[ScenarioName, ...]:
    """The scenarios that are wanted, in our order, each once."""
    unknown = [name for name in wanted if name not in {*SCENARIOS, _ALL}]
    if unknown:
        raise SetupError(
            f"there is no scenario {unknown[0]!r}", hint=f"known are {', '.join(SCENARIOS)}, all"
        )
    return tuple(name for name in SCENARIOS if name in wanted or _ALL in wanted)


def _sweep(sizes: str | None, wanted: Sequence[str]) -> tuple[int, ...]:
    """The sizes of a crowd, smallest first."""
    if sizes is None:
        return ()
    if list(wanted) != ["crowd"]:
        raise SetupError("--sweep is for the scenario crowd alone")
    try:
        numbers = sorted({int(size) for size in sizes.split(",")})
    except ValueError as error:
        raise SetupError(f"--sweep takes numbers with commas between, not {sizes!r}") from error
    if numbers[0] < 1:
        raise SetupError("--sweep takes numbers from 1 on")
    return tuple(numbers)
