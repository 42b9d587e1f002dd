"""The scenario ``soak``: callers come, ask twice and go, one after the other, for a set time.

With two servers each line calls them in turn.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import exchange, turn_row
from s2s_actors.client.bench.probing import probing
from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import Seat, settings_for, take_all
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rounds import Watch
    from s2s_actors.client.bench.seats import Server

__all__ = ["run_soak"]

_QUESTIONS: Final = 2
_AFTER_FAILURE_S: Final = 0.5
"""A caller who was turned away does not call again at once."""


async def run_soak(
    servers: Sequence[Server], options: BenchOptions, clips: Sequence[Clip], watch: Watch
) -> None:
    """Run ``options.sessions`` lines at once until the time is over; calls are finished."""
    over_s = watch.now_s + options.duration_s
    async with probing("soak", servers, options, watch.probes):
        lines = [
            _Line(index, servers, options, clips, watch).run(over_s)
            for index in range(options.sessions)
        ]
        await asyncio.gather(*lines)


class _Line:
    """A telephone line: one call after the other."""

    def __init__(
        self,
        index: int,
        servers: Sequence[Server],
        options: BenchOptions,
        clips: Sequence[Clip],
        watch: Watch,
    ) -> None:
        self._index = index
        self._servers = servers
        self._options = options
        self._clips = clips
        self._watch = watch
        self._asked = 0

    async def run(self, over_s: float) -> None:
        """Call until the time is over."""
        call = self._index
        while self._watch.now_s < over_s:
            await self._call(self._servers[call % len(self._servers)])
            call += 1

    async def _call(self, server: Server) -> None:
        settings = settings_for(server, self._options, self._options.prompt, {})
        async with Seat(server, settings, self._options.timeout_s) as seat:
            await take_all([seat])  # the unit of the call before may not be clean yet
            for question in range(_QUESTIONS):
                row = await self._ask(seat, first=question == 0)
                self._asked += 1
                self._watch.add(row)
                if row.problem:
                    await asyncio.sleep(_AFTER_FAILURE_S)
                    return

    async def _ask(self, seat: Seat, *, first: bool) -> Row:
        number, at_s = self._asked, self._watch.now_s
        clip = self._clips[(number + self._index) % len(self._clips)]
        place = Place(scenario="soak", server=seat.server.name, session=self._index, number=number)
        try:
            made = await exchange(await seat.session(), clip)
        except S2SError as error:
            return Row(place=place, stimulus=clip.name, at_s=at_s, problem=str(error))
        return turn_row(made, place, at_s, first=first)
