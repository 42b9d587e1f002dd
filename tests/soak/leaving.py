"""The ways in which clients leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeAlias

from tests.support.running_server import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tests.support.realtime_client import RealtimeClient

    Leave: TypeAlias = Callable[["Ghosts", RealtimeClient], Awaitable[object]]

__all__ = ["WAYS", "Ghosts"]


class Ghosts:
    """Clients that are silent and still there, until they are laid to rest."""

    def __init__(self) -> None:
        self._silent: list[RealtimeClient] = []

    def add(self, client: RealtimeClient) -> None:
        """One more."""
        self._silent.append(client)

    def lay_to_rest(self) -> None:
        """End what is left of their connections."""
        for client in self._silent:
            client.reset()
        self._silent.clear()


async def _close_frame(ghosts: Ghosts, client: RealtimeClient) -> None:
    del ghosts
    async with asyncio.timeout(PATIENCE_S):
        await client.ws.close()
    await client.closed()


async def _reset(ghosts: Ghosts, client: RealtimeClient) -> None:
    del ghosts
    await client.vanish()


async def _close_frame_and_then_silence(ghosts: Ghosts, client: RealtimeClient) -> None:
    await client.stop_reading()
    client.say_goodbye_only()
    ghosts.add(client)


async def _silence(ghosts: Ghosts, client: RealtimeClient) -> None:
    await client.stop_reading()
    ghosts.add(client)


WAYS: Final[Mapping[str, Leave]] = {
    "a close frame": _close_frame,
    "a reset": _reset,
    "a close frame and then silence": _close_frame_and_then_silence,
    "silence": _silence,
}
"""How a client leaves, by name."""
