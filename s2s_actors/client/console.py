"""The terminal that commands write to: colour where there is one, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console
from rich.text import Text

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from s2s_actors.errors import S2SError

__all__ = ["INTERRUPTED", "open_console", "show_error"]

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""

_FILE_WIDTH: Final = 120


def open_console(stream: TextIO | None = None) -> Console:
    """A console on ``stream`` (default: standard output).

    A file or a pipe gets no colour and lines of up to 120 columns, unless ``COLUMNS`` says
    otherwise.
    """
    stream = stream or sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else _FILE_WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=wide)


def show_error(error: S2SError) -> None:
    """One line on standard error that says what is wrong, and one with what mends it."""
    console = open_console(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
    if isinstance(error, SetupError) and error.hint:
        console.print(Text.assemble(("hint: ", "bold"), error.hint), soft_wrap=True)
