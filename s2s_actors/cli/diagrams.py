"""The diagram command: draws the charts that the server runs."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Literal, TextIO

import typer

from s2s_actors.cli.failure import CommandFailed
from s2s_actors.cli.teaching import taught
from s2s_actors.errors import SetupError

__all__ = ["diagram"]


def diagram(
    chart: Annotated[
        str | None, typer.Argument(metavar="[CHART]", help="Chart to draw; without it, list all.")
    ] = None,
    *,
    format_: Annotated[
        Literal["mermaid", "md", "dot", "svg", "png"],
        typer.Option("--format", help="How to draw it; svg and png need Graphviz."),
    ] = "mermaid",
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Where to write it; without it, stdout."),
    ] = None,
) -> int:
    """Draw a chart (the help text is set below)."""
    from statecharts import catalogue, render  # noqa: PLC0415 - brings python-statemachine

    if chart is None:
        for name, entry in catalogue.ENTRIES.items():
            typer.echo(f"{name:<12}{entry.summary}")
        return 0
    if chart not in catalogue.CHARTS:
        known = ", ".join(catalogue.CHARTS)
        raise SetupError(f"there is no chart {chart!r}", hint=f"known are {known}")
    if format_ == "png" and output is None and sys.stdout.isatty():
        raise SetupError(
            "a PNG is not for a terminal", hint=f"add --output {chart}.png, or use a pipe"
        )
    try:
        drawing = render.render(chart, format_)
    except render.RenderError as error:
        raise CommandFailed(error.message, hint=error.hint) from error
    _write(drawing, output)
    return 0


diagram.__doc__ = taught(
    "Draw a statechart, from the definition that the server runs.",
    "s2s-actors diagram",
    "s2s-actors diagram unit",
    "s2s-actors diagram unit --format svg --output unit.svg",
)


def _write(drawing: str | bytes, output: Path | None) -> None:
    data = drawing.encode() if isinstance(drawing, str) else drawing
    if output is None:
        _write_to_stream(data, sys.stdout)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise CommandFailed(f"can't write {output}: {error.strerror}") from error


def _write_to_stream(data: bytes, stream: TextIO) -> None:
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()
