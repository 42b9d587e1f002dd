"""The scenario ``visits``: how soon a client gets a unit, and how soon a unit is free again.

A unit counts as free when the next client has it. That client has been waiting before the
first one leaves, so nobody asks the server again and again, and the time holds the whole way:
the close frame, the clearing up, and ``session.created`` for the other one.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import ask_for, settings_for
from s2s_actors.client.bench.session_memory import measure_memory
from s2s_actors.client.bench.story import STORY, STORY_SCRIPT
from s2s_actors.client.bench.visit_rows import VisitRow
from s2s_actors.client.bench.visitor import Visitor
from s2s_actors.client.connection import connected
from s2s_actors.client.record import AUDIO_DELTA, Closed
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rounds import Watch
    from s2s_actors.client.bench.seats import Server
    from s2s_actors.client.connection import Connection

__all__ = ["run_visits"]

_ASK: Final[Sequence[Mapping[str, object]]] = (
    {
        "type": "conversation.item.create",
        "item": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Tell me a story."}],
        },
    },
    {"type": "response.create"},
)


async def run_visits(
    servers: Sequence[Server], options: BenchOptions, clips: Sequence[Clip], watch: Watch
) -> None:
    """Measure each server: its memory, how clients come, and how they leave, idle and busy."""
    for server in servers:
        visits = _Visits(server, options, watch)
        # First of all: what later visits leave behind would be used again, and hide the cost.
        await visits.once("memory", partial(measure_memory, server, options, clips))
        await visits.often("coming", visits.come)
        async with AsyncExitStack() as held:
            try:
                await _hold_all_but_one(server, options.timeout_s, held)
            except S2SError as error:
                watch.add(visits.row("holding all other units", 0, problem=str(error)))
                continue
            await visits.often("leaving", visits.leave_idle)
            await visits.often("leaving in mid-answer", visits.leave_busy)


async def _hold_all_but_one(server: Server, timeout_s: float, held: AsyncExitStack) -> None:
    size = ask_for(server.url, "/v1/pool").get("size")
    if not isinstance(size, int):
        raise S2SError("the server does not say how many units it has")
    for _ in range(size - 1):
        await held.enter_async_context(connected(server.url, timeout_s=timeout_s))


class _Visits:
    """Visits to one server."""

    def __init__(self, server: Server, options: BenchOptions, watch: Watch) -> None:
        self._server = server
        self._options = options
        self._watch = watch
        self._settings = settings_for(server, options, STORY, STORY_SCRIPT)
        self._now_s = asyncio.get_running_loop().time

    async def often(self, what: str, visit: Callable[[], Awaitable[Mapping[str, float]]]) -> None:
        """Do it ``--turns`` times, and keep a row of each."""
        for number in range(self._options.turns):
            await self.once(what, visit, number)

    async def once(
        self, what: str, visit: Callable[[], Awaitable[Mapping[str, float]]], number: int = 0
    ) -> None:
        """Do it and keep a row, unless there was nothing to measure."""
        try:
            found = await visit()
        except S2SError as error:
            self._watch.add(self.row(what, number, problem=str(error)))
            return
        if found:
            self._watch.add(self.row(what, number, found))

    def row(
        self, what: str, number: int, found: Mapping[str, float] | None = None, problem: str = ""
    ) -> Row:
        """What was found, in a row."""
        place = Place(
            scenario="visits",
            server=self._server.name,
            session=0,
            number=number,
            warm_up=number < self._options.warm_up,
        )
        at_s = self._watch.now_s
        return VisitRow(place=place, stimulus=what, at_s=at_s, problem=problem, **found or {})

    async def come(self) -> Mapping[str, float]:
        """Come while there is a free unit, and go."""
        async with self._visitor() as visitor:
            called_s = self._now_s()
            await visitor.knock()
            connected_s = self._now_s()
            await visitor.enter()
            entered_s = self._now_s()
        return {
            "claim_ms": (entered_s - called_s) * 1000.0,
            "claim_connected_ms": (entered_s - connected_s) * 1000.0,
        }

    async def leave_idle(self) -> Mapping[str, float]:
        """Leave the only unit to somebody who waits for it."""
        async with self._visitor() as first:
            await first.knock()
            await first.enter()
            return {"leave_idle_ms": await self._hand_over(first)}

    async def leave_busy(self) -> Mapping[str, float]:
        """The same in the middle of a long answer."""
        async with self._visitor() as first:
            await first.knock()
            await self._have_talk(await first.enter())
            return {"leave_busy_ms": await self._hand_over(first)}

    async def _hand_over(self, first: Visitor) -> float:
        async with self._visitor() as second:
            await second.knock()
            left_s = self._now_s()
            leaving = asyncio.create_task(first.leave())
            try:
                await second.enter()
                return (self._now_s() - left_s) * 1000.0
            finally:
                await leaving

    async def _have_talk(self, connection: Connection) -> None:
        for event in (self._settings, *_ASK):
            await connection.send(event)
        try:
            async with asyncio.timeout(self._options.timeout_s):
                await _heard(connection)
        except TimeoutError:
            raise S2SError("there was no answer with audio to leave in the middle of") from None

    def _visitor(self) -> Visitor:
        return Visitor(self._server.url, self._options.timeout_s)


async def _heard(connection: Connection) -> None:
    """Wait until the answer is heard."""
    while not isinstance(event := await connection.receive(), Closed):
        if event.type == AUDIO_DELTA:
            return
        if event.type in {"error", "response.done"}:
            said = event.text("error", "message") or "the answer was over before it was heard"
            raise S2SError(said)
    raise S2SError(f"the server closed the connection: {event}")
