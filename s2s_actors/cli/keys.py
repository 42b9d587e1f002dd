"""The key command: makes a key for clients, and the lines with which the server knows it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from s2s_actors.cli.teaching import taught
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["key", "key_table"]

_LONGEST_NAME: Final = 64


def key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What you call whoever has it.")],
    *,
    max_sessions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Sessions at a time.")
    ] = None,
    sessions_per_minute: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="New sessions in any minute.")
    ] = None,
    audio_minutes_per_hour: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Minutes of audio sent in any hour.")
    ] = None,
) -> int:
    """Make a key (the help text is set below)."""
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise SetupError(f"NAME must be a text of 1 to {_LONGEST_NAME} characters")
    from s2s_actors.server.keys import hash_of, new_secret  # noqa: PLC0415 - brings msgspec

    secret = new_secret()
    limits = {
        "max_sessions": max_sessions,
        "sessions_per_minute": sessions_per_minute,
        "audio_minutes_per_hour": audio_minutes_per_hour,
    }
    sys.stdout.write(key_table(name, hash_of(secret), limits))
    sys.stdout.flush()
    # Not on standard output: there it would end up in the file.
    sys.stderr.write(
        f"key of {name}, shown this once: {secret}\n"
        "hint: append the lines on standard output to the file of --api-key-file; a running "
        "server reads it again on SIGHUP\n"
    )
    return 0


key.__doc__ = taught(
    "Make a key for clients.\n\n"
    "Standard output is the table for the key file, which holds only a hash; the key itself is "
    "written to standard error, once. Without a limit a key may have all there is.",
    "s2s-actors key kitchen >> keys.toml",
    "s2s-actors key shop --max-sessions 4 --audio-minutes-per-hour 120 >> keys.toml",
    "s2s-actors serve --api-key-file keys.toml",
    "S2S_API_KEY=sk-s2s-... s2s-actors talk",
)


def key_table(name: str, hash_: str, limits: Mapping[str, int | None]) -> str:
    """The TOML of one key; limits that are None are left out."""
    # A JSON string is a TOML string, but for DEL, which is not printable.
    lines = ["[[key]]", f"name = {json.dumps(name, ensure_ascii=False)}", f'hash = "{hash_}"']
    lines += [f"{limit} = {most}" for limit, most in limits.items() if most is not None]
    return "\n".join(lines) + "\n"
