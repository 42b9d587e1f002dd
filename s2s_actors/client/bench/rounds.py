"""Runs a scenario in rounds: each session of a server takes one trial, then the next server.

Two servers take turns in the order A B, B A, A B ..., so that whatever else the machine does
hits both alike. Within a round the sessions do not begin at the same moment but spread over a
second, evenly and the same each time: callers are not a choir (unless the scenario says when
each of them begins).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from itertools import chain
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.probing import probing
from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import Seat, settings_for, take_all
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.client.bench.crowd_point import CrowdPoint
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.result import Probe
    from s2s_actors.client.bench.scenario import Scenario
    from s2s_actors.client.bench.seats import Server

__all__ = ["Watch", "run_rounds"]

_GOLDEN: Final = 0.618034
_SPREAD_S: Final = 1.0


class Watch:
    """Keeps what a run finds, also of one that is interrupted.

    Attributes:
        rows: All trials so far, in the order in which they ended.
        probes: What idle clients saw.
        crowds: What crowds showed, by their size.
        on_row: Called after each row.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.probes: list[Probe] = []
        self.crowds: list[CrowdPoint] = []
        self.on_row: Callable[[], object] = lambda: None
        self._clock = time.monotonic
        self._start_s = self._clock()

    @property
    def now_s(self) -> float:
        """Seconds since the start of the run."""
        return self._clock() - self._start_s

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows.append(row)
        self.on_row()


async def run_rounds(
    scenario: Scenario, servers: Sequence[Server], options: BenchOptions, watch: Watch
) -> None:
    """Run all rounds; what goes wrong is in the rows.

    All sessions are opened before the first round, so none is opened in the middle of what
    others measure.
    """
    async with AsyncExitStack() as stack:
        seats = {server.name: _seats(scenario, server, options) for server in servers}
        for seat in chain.from_iterable(seats.values()):
            await stack.enter_async_context(seat)
        await take_all(chain.from_iterable(seats.values()))
        async with probing(scenario.name, servers, options, watch.probes):
            for number in range(scenario.rounds):
                for server in servers if number % 2 == 0 else reversed(servers):
                    taken = enumerate(seats[server.name])
                    await asyncio.gather(
                        *(
                            _trial(
                                scenario,
                                seat,
                                _place(scenario, seat, index, number, options),
                                watch,
                            )
                            for index, seat in taken
                        )
                    )


def _seats(scenario: Scenario, server: Server, options: BenchOptions) -> list[Seat]:
    settings = settings_for(server, options, scenario.instructions, scenario.script)
    return [Seat(server, settings, options.timeout_s) for _ in range(options.sessions)]


def _place(
    scenario: Scenario, seat: Seat, session: int, number: int, options: BenchOptions
) -> Place:
    return Place(
        scenario=scenario.name,
        server=seat.server.name,
        session=session,
        number=number,
        warm_up=number < options.warm_up,
    )


async def _trial(scenario: Scenario, seat: Seat, place: Place, watch: Watch) -> None:
    begins_s = scenario.begins_s or _spread_s
    await asyncio.sleep(begins_s(place))
    at_s = watch.now_s
    try:
        session = await seat.session()
        await session.collect([], 0.0)  # what came since the last trial belongs to nobody
        row = await scenario.trial(session, place, at_s)
    except S2SError as error:
        row = Row(place=place, stimulus="", at_s=at_s, problem=str(error))
    watch.add(row)


def _spread_s(place: Place) -> float:
    return place.session * _GOLDEN % _SPREAD_S
