"""A client whose coming and going is what is measured: each step of it can be awaited alone."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from s2s_actors.client.connection import knocking

if TYPE_CHECKING:
    from types import TracebackType

    from s2s_actors.client.connection import Connection, Knock

__all__ = ["Visitor"]


class Visitor:
    """A client that knocks, enters and leaves; use it as an asynchronous context."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._stack = AsyncExitStack()
        self._knock: Knock

    async def knock(self) -> None:
        """Open the websocket; from now on it waits if it must."""
        opened = knocking(self._url, timeout_s=self._timeout_s)
        self._knock = await self._stack.enter_async_context(opened)

    async def enter(self) -> Connection:
        """Wait for the session."""
        return await self._knock.session()

    async def leave(self) -> None:
        """Send a close frame and wait for the server's; nothing if it has left."""
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.leave()
