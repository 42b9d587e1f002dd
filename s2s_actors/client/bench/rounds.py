"""Runs a scenario in rounds: each session of a server takes one trial, then the next server.

Two servers take turns in the order A B, B A, A B ..., so that whatever else the machine does
hits both alike. Within a round the sessions do not begin at the same moment but spread over a
second, evenly and the same each time: callers are not a choir.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import Seat, settings_for
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.scenario import Scenario
    from s2s_actors.client.bench.seats import Server

__all__ = ["Watch", "run_rounds"]

_GOLDEN: Final = 0.618034
_SPREAD_S: Final = 1.0


class Watch:
    """Follows a run: what time it is, and who wants to know of each row."""

    def __init__(self, on_row: Callable[[Row], None]) -> None:
        self.on_row = on_row
        self._clock = asyncio.get_running_loop().time
        self._start_s = self._clock()

    @property
    def now_s(self) -> float:
        """Seconds since the start of the run."""
        return self._clock() - self._start_s


async def run_rounds(
    scenario: Scenario, servers: Sequence[Server], options: BenchOptions, watch: Watch
) -> list[Row]:
    """Run all rounds; what goes wrong is in the rows."""
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        seats: dict[str, list[Seat]] = {}
        for server in servers:
            settings = settings_for(server, options, scenario.instructions, scenario.script)
            seats[server.name] = [
                await stack.enter_async_context(Seat(server, settings, options.timeout_s))
                for _ in range(options.sessions)
            ]
        for number in range(scenario.rounds):
            for server in servers if number % 2 == 0 else reversed(servers):
                trials = [
                    _trial(scenario, seat, _place(scenario, server, index, number, options), watch)
                    for index, seat in enumerate(seats[server.name])
                ]
                rows += await asyncio.gather(*trials)
    return rows


def _place(
    scenario: Scenario, server: Server, session: int, number: int, options: BenchOptions
) -> Place:
    return Place(
        scenario=scenario.name,
        server=server.name,
        session=session,
        number=number,
        warm_up=number < options.warm_up,
    )


async def _trial(scenario: Scenario, seat: Seat, place: Place, watch: Watch) -> Row:
    await asyncio.sleep(place.session * _GOLDEN % _SPREAD_S)
    at_s = watch.now_s
    try:
        session = await seat.session()
        await session.collect([], 0.0)  # what came since the last trial belongs to nobody
        row = await scenario.trial(session, place, at_s)
    except S2SError as error:
        row = Row(place=place, stimulus="", at_s=at_s, problem=str(error))
    watch.on_row(row)
    return row
