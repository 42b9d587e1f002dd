"""The reference of the command line, made from the help of the commands themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import typer.main

from s2s_actors.cli.app import PROGRAM, build_app

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cli_reference"]

_WIDTH = 100


class _Helpful(Protocol):
    def get_help(self) -> str: ...


def cli_reference() -> str:
    """Return the help of the program and of each command, as Markdown sections."""
    return "\n".join(_sections())


def _sections() -> Iterator[str]:
    group = typer.main.get_group(build_app())
    with group.make_context(PROGRAM, [], resilient_parsing=True, max_content_width=_WIDTH) as top:
        yield from _section(PROGRAM, top)
        for name, command in group.commands.items():
            with command.make_context(
                name, [], parent=top, resilient_parsing=True, max_content_width=_WIDTH
            ) as context:
                yield from _section(f"{PROGRAM} {name}", context)


def _section(title: str, context: _Helpful) -> Iterator[str]:
    yield f"## `{title}`\n"
    yield f"```text\n{context.get_help()}\n```\n"
