"""The pool command: shows every unit of a running server, once or live."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from rich.live import Live
from rich.text import Text

from s2s_actors.client.address import http_url
from s2s_actors.client.console import INTERRUPTED, open_console, show_error
from s2s_actors.client.http_get import get_json
from s2s_actors.client.pool_table import pool_table
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["run"]

Pool: TypeAlias = dict[str, object]

_REFRESH_S: Final = 1.0


def run(url: str, *, watch: bool = False, as_json: bool = False) -> int:
    """Show ``GET /v1/pool`` of the server at ``url``; return the exit code (0, 1 or 130).

    Args:
        url: The server, as ``ws://`` or ``http://``.
        watch: Stay until Ctrl-C and ask again every second. A terminal shows a live table;
            elsewhere every change is printed. A server that is gone is asked again, too.
        as_json: One line of JSON instead of a table.
    """
    console = open_console()
    try:
        address = http_url(url, "/v1/pool")
        if not watch:
            _print(console, get_json(address), as_json=as_json)
        elif console.is_terminal and not as_json:
            _watch_live(console, address)
        else:
            _watch_changes(console, address, as_json=as_json)
    except SetupError as error:
        show_error(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _print(console: Console, pool: Pool, *, as_json: bool) -> None:
    if as_json:
        console.print(Text(json.dumps(pool, ensure_ascii=False)), soft_wrap=True)
    else:
        console.print(pool_table(pool, now_s=time.time()))


def _watch_live(console: Console, address: str) -> NoReturn:
    with Live(console=console, auto_refresh=False) as live:
        while True:
            try:
                live.update(pool_table(get_json(address), now_s=time.time()), refresh=True)
            except SetupError as error:
                live.update(Text(f"{error}; still trying", "yellow"), refresh=True)
            time.sleep(_REFRESH_S)


def _watch_changes(console: Console, address: str, *, as_json: bool) -> NoReturn:
    shown: Pool | str | None = None
    while True:
        try:
            pool = get_json(address)
            if pool != shown:
                _print(console, pool, as_json=as_json)
            shown = pool
        except SetupError as error:
            if str(error) != shown:
                show_error(error)
            shown = str(error)
        time.sleep(_REFRESH_S)
