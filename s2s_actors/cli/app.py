"""Puts the commands together, and turns what they raise into one line and an exit code.

====  ==================================================================
code  meaning
====  ==================================================================
0     it worked
1     it did not (nothing heard, nothing answered, port in use ...)
2     wrong usage or configuration
130   interrupted
====  ==================================================================
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Final

import typer

from s2s_actors import __version__
from s2s_actors.cli.benching import bench
from s2s_actors.cli.conversing import demo, pool, talk
from s2s_actors.cli.diagrams import diagram
from s2s_actors.cli.doctor import doctor
from s2s_actors.cli.failure import CommandFailed
from s2s_actors.cli.keys import key
from s2s_actors.cli.serving import serve_command
from s2s_actors.cli.teaching import taught
from s2s_actors.errors import S2SError, SetupError
from s2s_actors.settings import DEBUG_ENV

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["build_app", "run"]

PROGRAM: Final = "s2s-actors"

FAILED: Final = 1
WRONG_USAGE: Final = 2


def _main(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show stack traces of errors.  [env: {DEBUG_ENV}]")
    ] = False,
) -> int:
    if debug:
        # By way of the environment it reaches the server that the demo starts, too.
        os.environ[DEBUG_ENV] = "1"
    if version:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(WRONG_USAGE)
    return 0


def build_app() -> typer.Typer:
    """Return the typer application with all commands; :func:`run` is how to run it."""
    app = typer.Typer(
        name=PROGRAM,
        help=taught(
            "A realtime speech-to-speech server and its tools.\n\n"
            "Results go to standard output, progress and logs to standard error. Exit codes: "
            "0 it worked, 1 it did not, 2 wrong usage, configuration or setup (a missing model, a "
            "port in use), 130 interrupted.",
            f"{PROGRAM} demo                       hear an answer, all in one command",
            f"{PROGRAM} serve                      listen on ws://127.0.0.1:8765/v1/realtime",
            f"{PROGRAM} talk --input question.wav  ask a running server",
            f"{PROGRAM} doctor                     what is installed, and what is missing",
        ),
        # Plain text: error lines stay whole in logs and pipes, however narrow the terminal.
        rich_markup_mode=None,
        # A stack trace must not show local variables: there are keys among them.
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(_main)
    for command in (serve_command(), talk, demo, bench, pool, key, diagram, doctor):
        app.command(help=command.__doc__)(command)
    return app


def run(arguments: Sequence[str]) -> int:  # noqa: PLR0911 - one for each kind of error
    """Run one command and return its exit code; errors are one line on standard error."""
    try:
        code = build_app()(arguments, prog_name=PROGRAM, standalone_mode=False)
    except typer.TyperException as error:
        return _report(error.format_message(), _usage_hint(error), error.exit_code)
    except SetupError as error:
        return _report(error.message, error.hint, WRONG_USAGE)
    except CommandFailed as error:
        return _report(error.message, error.hint, FAILED)
    except S2SError as error:
        return _report(str(error), None, FAILED)
    except OSError as error:
        return _report(_describe(error), None, FAILED)
    except MemoryError:
        return _report("there is not enough memory", "free some, or choose smaller models", FAILED)
    return code if isinstance(code, int) else 0


def _report(message: str, hint: str | None, code: int) -> int:
    if os.environ.get(DEBUG_ENV, "0") not in {"", "0"}:
        traceback.print_exc()
    sys.stderr.write(f"error: {message}\n")
    if hint:
        sys.stderr.write(f"hint: {hint}\n")
    return code


def _usage_hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    path = context.command_path if context else PROGRAM
    return f"{path} --help shows what there is"


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
