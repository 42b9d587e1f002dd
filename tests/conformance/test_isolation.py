"""Many sessions at once."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection, connect

from .realtime_conformance.checks import FULL, check
from .realtime_conformance.cross_session import CrossSessionChecker
from .realtime_conformance.stream_checker import StreamChecker
from .realtime_conformance.strict_events import validate

if TYPE_CHECKING:
    from .realtime_conformance.target import Target

SESSIONS = 100
LETTERS = "bcdfghjklm"


def canary(number: int) -> str:
    """A word that belongs to one session."""
    return "zo" + "".join(LETTERS[int(digit)] + "a" for digit in f"{number:03}") + "q"


class _Talker:
    """Holds one turn, and shows all it sends and hears to the checkers."""

    def __init__(self, ws: ClientConnection, number: int, watcher: CrossSessionChecker) -> None:
        self._ws, self._watcher = ws, watcher
        self._name, self._word = f"session-{number}", canary(number)
        self._checker = StreamChecker(self._name)
        watcher.canary(self._name, self._word)

    async def _send(self, event: dict[str, Any]) -> None:
        self._checker.client(event)
        self._watcher.client(self._name, event)
        await self._ws.send(json.dumps(event))

    async def _until(self, type_: str) -> dict[str, Any]:
        while True:
            event: dict[str, Any] = json.loads(await self._ws.recv())
            validate(event)
            self._checker.server(event)
            self._watcher.server(self._name, event)
            if event["type"] == type_:
                return event

    async def talk(self, together: asyncio.Barrier) -> None:
        await self._until("session.created")
        await together.wait()
        content = [{"type": "input_text", "text": f"Say exactly: {self._word} is mine."}]
        item = {"type": "message", "role": "user", "content": content}
        await self._send({"type": "conversation.item.create", "event_id": "a", "item": item})
        await self._send({"type": "response.create", "event_id": "b"})
        response = (await self._until("response.done"))["response"]
        assert response["status"] == "completed"
        assert self._word in response["output"][0]["content"][0]["transcript"].lower()
        self._checker.finish()


@check("error/96", FULL)
def test_nothing_of_one_session_appears_in_another(crowded: Target) -> None:
    watcher, together = CrossSessionChecker(), asyncio.Barrier(SESSIONS)
    headers = {"Authorization": f"Bearer {crowded.key}"}

    async def session(number: int) -> None:
        async with connect(
            crowded.address(),
            additional_headers=headers,
            max_size=None,
            proxy=None,
            open_timeout=crowded.patience_s,
        ) as ws:
            await _Talker(ws, number, watcher).talk(together)

    async def crowd() -> None:
        async with asyncio.timeout(crowded.patience_s), asyncio.TaskGroup() as group:
            for number in range(SESSIONS):
                group.create_task(session(number))

    asyncio.run(crowd())
