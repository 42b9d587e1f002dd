"""An idle client beside the load: how soon does the server answer it?

It sends nothing but a small ``session.update`` five times a second and waits for its
``session.updated``. No model has a part in that, so what it waits for is the server's event
loop and its threads: a high p99 means that a session can freeze the others.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.figures import figure_of
from s2s_actors.client.bench.result import Probe
from s2s_actors.client.connection import connected
from s2s_actors.client.record import Closed
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.seats import Server
    from s2s_actors.client.connection import Connection

__all__ = ["probing"]

_EVERY_S: Final = 0.2
_UPDATE: Final = {"type": "session.update", "session": {"type": "realtime"}}


@asynccontextmanager
async def probing(
    scenario: str, servers: Sequence[Server], options: BenchOptions, found: list[Probe]
) -> AsyncIterator[None]:
    """Probe every server while the block runs, and add to ``found`` what was seen.

    With a single session there are no others to freeze, and nothing is probed.
    """
    waits = {server.name: list[float]() for server in servers if options.sessions > 1}
    tasks = {
        server.name: asyncio.create_task(_probe(server.url, options.timeout_s, waits[server.name]))
        for server in servers
        if server.name in waits
    }
    try:
        yield
    finally:
        for task in tasks.values():
            task.cancel()
        ends = await asyncio.gather(*tasks.values(), return_exceptions=True)
        for (server, took_ms), end in zip(waits.items(), ends, strict=True):
            problem = str(end) if isinstance(end, S2SError) else ""
            figure = figure_of(took_ms)
            found.append(
                Probe(scenario=scenario, server=server, updated_ms=figure, problem=problem)
            )


async def _probe(url: str, timeout_s: float, took_ms: list[float]) -> None:
    async with connected(url, timeout_s=timeout_s) as connection:
        while True:
            started_ms = connection.now_ms
            await connection.send(_UPDATE)
            took_ms.append(await _updated(connection) - started_ms)
            await asyncio.sleep(_EVERY_S)


async def _updated(connection: Connection) -> float:
    while not isinstance(event := await connection.receive(), Closed):
        if event.type == "session.updated":
            return event.at_ms
        if event.type == "error":
            raise S2SError(f"the server refused: {event.text('error', 'message')}")
    raise S2SError(f"the server closed the connection: {event}")
