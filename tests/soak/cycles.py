"""Clients that come and leave at any moment, a batch at a time, and what is checked between."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.server.harness import RawClient
from tests.soak.flatness import Course
from tests.soak.leaving import WAYS, Ghosts
from tests.soak.phases import MODELS, PHASES
from tests.support.canaries import canary_words, check_voice
from tests.support.realtime_client import RealtimeClient

if TYPE_CHECKING:
    from tests.soak.serving import SoakedServer

__all__ = ["BATCH", "Cycle", "Cycles"]

BATCH: Final = 40
"""Cycles after which everything must be as it was."""
_CONNECTING: Final = "connecting"
_LONGEST_MOMENT_S: Final = 0.06
_RARELY: Final = 0.1


@dataclass(frozen=True, slots=True)
class Cycle:
    """One client's coming and leaving.

    Attributes:
        phase: Where it is when it leaves.
        way: How it leaves.
        model: What the language model does.
        moment_s: How long it lingers before it leaves.
    """

    phase: str
    way: str
    model: str
    moment_s: float

    @classmethod
    def drawn(cls, seeded: random.Random) -> Cycle:
        """Any of them; those that cost the server a timeout are rarer."""
        return cls(
            seeded.choice([_CONNECTING, *PHASES]),
            seeded.choices(list(WAYS), [1.0, 1.0, _RARELY, _RARELY])[0],
            seeded.choice(list(MODELS)),
            seeded.choice([0.0, seeded.uniform(0.0, _LONGEST_MOMENT_S)]),
        )

    async def run(self, server: SoakedServer, ghosts: Ghosts) -> None:
        """Come, and leave."""
        if self.phase == _CONNECTING:
            await self._knock(server)
            return
        async with RealtimeClient(server) as client:
            await PHASES[self.phase](client, self.model)
            await asyncio.sleep(self.moment_s)
            await WAYS[self.way](ghosts, client)

    async def _knock(self, server: SoakedServer) -> None:
        raw = await RawClient.open(server.port, handshake=False)
        # The moment decides how much of the request is sent, and whether the answer is awaited.
        raw.send(_REQUEST[: round(len(_REQUEST) * self.moment_s * 25)])
        await asyncio.sleep(self.moment_s / 10)
        if self.way == "a close frame":
            await raw.close()
        else:
            raw.reset()


_REQUEST: Final = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Version: 13\r\n\r\n"
)


class Cycles:
    """A run of many.

    Promises: after each batch all units are idle, a bystander's session goes on as before, and
    whoever comes next hears the answer to what they said, in their own voice. The same seed
    gives the same clients in the same order; what meets what is up to the machine.

    Args:
        server: Where to.
        seed: Of all that is drawn.
        at_once: How many clients are there at a time.

    Attributes:
        course: What the server held when all had left.
    """

    def __init__(self, server: SoakedServer, *, seed: int, at_once: int) -> None:
        self.course = Course(server.pid)
        self._server = server
        self._seeded = random.Random(seed)  # noqa: S311 - not for secrets
        self._words = canary_words(self._seeded)
        self._at_once = at_once

    async def run(self, count: int) -> None:
        """Let that many clients come and leave.

        Raises:
            AssertionError: Something was not as it should be; the cycle at fault is named.
        """
        async with RealtimeClient(self._server, name="bystander") as bystander:
            await bystander.play("Turn {n}: {user}.")
            for start in range(0, count, BATCH):
                await self._batch(min(BATCH, count - start))
                await self._undisturbed(bystander)
                await self._clean()
                await self._all_idle(but=1)
                self.course.sample()
        await self._all_idle(but=0)

    async def _batch(self, size: int) -> None:
        ghosts = Ghosts()
        gate = asyncio.Semaphore(self._at_once)

        async def one(cycle: Cycle) -> None:
            async with gate:
                try:
                    await cycle.run(self._server, ghosts)
                except Exception as error:
                    error.add_note(f"in {cycle}")
                    raise

        async with asyncio.TaskGroup() as group:
            for _ in range(size):
                group.create_task(one(Cycle.drawn(self._seeded)))
        await self._all_idle(but=1)
        ghosts.lay_to_rest()

    async def _all_idle(self, *, but: int) -> None:
        await self._server.until_pool(lambda pool: in_use(pool) == but)

    async def _undisturbed(self, bystander: RealtimeClient) -> None:
        word = next(self._words)
        response = await bystander.ask(word)
        assert word in transcript(response)

    async def _clean(self) -> None:
        word = next(self._words)
        async with RealtimeClient(self._server, name="canary") as client:
            await client.play("I heard {user}, turn {n}.", stt=[word])
            await client.say()
            response = await client.done()
            assert transcript(response) == f"I heard {word}, turn 1."
            assert check_voice(client)
            assert len(client.checker.items) == 2


def in_use(pool: dict[str, Any]) -> int:
    """How many units are not idle."""
    return sum(unit["state"] != "idle" for unit in pool["units"])


def transcript(response: dict[str, Any]) -> str:
    """What a finished response says."""
    return str(response["output"][0]["content"][0]["transcript"])
