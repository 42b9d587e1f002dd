"""The scenario ``conversation``: callers who talk, listen to the end and think, all the time.

First there is one of them alone, which is the base; then ``--sessions`` on the same server, who
begin spread evenly over the time that one turn took. A session that has taken its turns goes on,
uncounted, until the others have, so that the load on the last turn is that on the first.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, nullcontext
from itertools import count
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import exchange, turn_row
from s2s_actors.client.bench.names import ALONE
from s2s_actors.client.bench.probing import probing
from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import Seat, settings_for, take_all
from s2s_actors.client.bench.turn_trials import clip_for
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rounds import Watch
    from s2s_actors.client.bench.seats import Server

__all__ = ["run_conversation", "thinking_s"]

_GOLDEN: Final = 0.618034
_THINKING_S: Final = (1.0, 4.0)
"""Shortest and longest silence between the end of an answer and the next question."""


async def run_conversation(
    servers: Sequence[Server], options: BenchOptions, clips: Sequence[Clip], watch: Watch
) -> None:
    """Talk to each server, one after the other: alone, then with all sessions at once."""
    for server in servers:
        alone = _Gathering("conversation" + ALONE, server, options, clips, watch)
        cycle_s = await alone.run(1, 0.0, beside=nullcontext())
        if options.sessions > 1:
            together = _Gathering("conversation", server, options, clips, watch)
            probe = probing("conversation", [server], options, watch.probes)
            await together.run(options.sessions, cycle_s, beside=probe)


def thinking_s(place: Place) -> float:
    """How long that caller thinks after that turn: the same in each run, spread evenly."""
    shortest_s, longest_s = _THINKING_S
    share = (place.session * _GOLDEN + place.number * _GOLDEN**2) % 1.0
    return shortest_s + share * (longest_s - shortest_s)


class _Gathering:
    """Callers who talk to one server at the same time.

    Promises: every session has ``options.turns`` rows, and none of them was taken after another
    session had fallen silent.
    """

    def __init__(
        self,
        name: str,
        server: Server,
        options: BenchOptions,
        clips: Sequence[Clip],
        watch: Watch,
    ) -> None:
        self._name = name
        self._server = server
        self._options = options
        self._clips = clips
        self._watch = watch
        self._all_counted = asyncio.Event()
        self._still_counting = 0

    async def run(
        self, sessions: int, spread_s: float, *, beside: AbstractAsyncContextManager[None]
    ) -> float:
        """Let them begin within ``spread_s``; return how long a turn took of the last one.

        ``beside`` is entered when all have a seat: it must not take one away from them.
        """
        settings = settings_for(self._server, self._options, self._options.prompt, {})
        async with AsyncExitStack() as stack:
            seats = [Seat(self._server, settings, self._options.timeout_s) for _ in range(sessions)]
            for seat in seats:
                await stack.enter_async_context(seat)
            await take_all(seats)
            await stack.enter_async_context(beside)
            self._still_counting, begun_s = sessions, self._watch.now_s
            async with asyncio.TaskGroup() as group:
                talks = [
                    group.create_task(self._talk(seat, session, session * spread_s / sessions))
                    for session, seat in enumerate(seats)
                ]
                await self._all_counted.wait()
                for talk in talks:
                    talk.cancel()
        return (self._watch.now_s - begun_s) / self._options.turns

    async def _talk(self, seat: Seat, session: int, begins_s: float) -> None:
        await asyncio.sleep(begins_s)
        for number in count():
            place = Place(
                scenario=self._name,
                server=self._server.name,
                session=session,
                number=number,
                warm_up=number < self._options.warm_up,
            )
            row = await self._turn(seat, place)
            if number < self._options.turns:
                self._watch.add(row)
            if number == self._options.turns - 1:
                self._counted()
            await asyncio.sleep(thinking_s(place))

    def _counted(self) -> None:
        self._still_counting -= 1
        if not self._still_counting:
            self._all_counted.set()

    async def _turn(self, seat: Seat, place: Place) -> Row:
        clip, at_s = clip_for(place, self._clips), self._watch.now_s
        try:
            session = await seat.session()
            await session.collect([], 0.0)  # what came while they thought belongs to nobody
            made = await exchange(session, clip)
        except S2SError as error:
            return Row(place=place, stimulus=clip.name, at_s=at_s, problem=str(error))
        return turn_row(made, place, at_s, first=place.number == 0)
