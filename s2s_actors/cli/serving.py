"""The serve command: its flags are the table of settings."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from s2s_actors.backends.registry import BACKENDS
from s2s_actors.cli.teaching import taught
from s2s_actors.settings import (
    CONFIG_ENV,
    SETTINGS,
    ConfigSources,
    print_settings,
    resolve_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from s2s_actors.settings import Setting, Settings

__all__ = ["serve_command"]

_HELP: Final = taught(
    "Serve the Realtime protocol on one port, until interrupted.\n\n"
    "A flag beats an environment variable (S2S_PORT for --port), which beats the file of "
    "--config, which beats the default. The key of an LLM server is not a flag: set "
    "S2S_LLM_API_KEY.",
    "s2s-actors serve",
    "s2s-actors serve --port 9000 --units 8",
    "s2s-actors serve --llm openai --llm-base-url http://127.0.0.1:8000/v1 --llm-model my-model",
    "s2s-actors serve --config s2s.toml --print-config",
)


def serve_command() -> Callable[..., int]:
    """Return the command, with one option for each setting that has a flag."""

    def serve(
        config: Path | None = None,
        print_config: bool = False,  # noqa: FBT001, FBT002 - typer calls by name
        **flags: str | None,
    ) -> int:
        given = {field: text for field, text in flags.items() if text is not None}
        resolved = resolve_settings(ConfigSources(given, os.environ, config))
        if print_config:
            print_settings(resolved, sys.stdout)
            return 0
        return _serve(resolved.settings)

    parameters = list(_parameters())
    # typer reads options from a function's signature; this one is made from the table.
    vars(serve)["__signature__"] = inspect.Signature(parameters, return_annotation=int)
    serve.__annotations__ = {each.name: each.annotation for each in parameters}
    serve.__doc__ = _HELP
    return serve


def _parameters() -> Iterator[inspect.Parameter]:
    config = typer.Option(
        "--config",
        metavar="FILE",
        help=f"TOML file with settings (see --print-config).  [env: {CONFIG_ENV}]",
    )
    yield _parameter("config", Annotated[Path | None, config], default=None)
    for row in SETTINGS:
        if row.flag:
            option = typer.Option(row.flag, metavar=row.kind.metavar, help=_help(row))
            yield _parameter(row.field, Annotated[str | None, option], default=None)
    show = typer.Option(
        "--print-config",
        help="Print each setting and where it comes from, then exit; secrets are masked.",
    )
    yield _parameter("print_config", Annotated[bool, show], default=False)


def _parameter(name: str, annotation: object, *, default: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _help(row: Setting) -> str:
    names = next((list(names) for kind, names in BACKENDS.items() if kind == row.field), [])
    known = f" Here: {', '.join(names)}." if names else ""
    default = row.default_text if row.default is None else row.kind.show(row.default)
    return f"{row.help}{known}  [default: {default}]"


def _serve(settings: Settings) -> int:
    from s2s_actors.serve import run  # noqa: PLC0415 - brings asyncio and the actors

    return run(settings)
