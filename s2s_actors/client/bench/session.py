"""One client of the bench: its microphone runs, and every event is stamped as it arrives."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.microphone import Microphone
from s2s_actors.client.connection import connected
from s2s_actors.client.conversation import configure
from s2s_actors.client.record import Closed, Record
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from s2s_actors.client.connection import Connection
    from s2s_actors.client.record import Event

__all__ = ["Session", "SessionLost", "configured", "open_session"]

_PROTOCOL_ERROR: Final = 1002


class SessionLost(S2SError):  # noqa: N818 - what happened, not who is to blame
    """The server ended the connection, or never took the settings."""


class Session:
    """An open session whose events are taken one by one.

    Attributes:
        microphone: Streams all the time.
        timeout_s: Longest silence of the server that is waited for.
        lost: Whether the connection is gone.
    """

    def __init__(self, connection: Connection, timeout_s: float) -> None:
        self.microphone = Microphone(connection)
        self.timeout_s = timeout_s
        self.lost = False
        self._connection = connection
        self._events: asyncio.Queue[Event | Closed] = asyncio.Queue()

    @property
    def now_ms(self) -> float:
        """Time since the microphone was switched on."""
        return self._connection.now_ms

    async def send(self, event: Mapping[str, object]) -> None:
        """Send one event."""
        await self._connection.send(event)

    async def event(self, until_ms: float) -> Event | None:
        """The next event, None if there is none before ``until_ms``.

        Raises:
            SessionLost: The server ended the connection.
        """
        if self._events.empty():
            try:
                async with asyncio.timeout(max(0.0, until_ms - self.now_ms) / 1000.0):
                    event = await self._events.get()
            except TimeoutError:
                return None
        else:
            event = self._events.get_nowait()
        if isinstance(event, Closed):
            self.lost = True
            raise SessionLost(f"the server closed the connection: {event}")
        return event

    async def collect(self, log: list[Event], until_ms: float) -> None:
        """Add to ``log`` what comes until then; what is late already is taken too."""
        while (event := await self.event(until_ms)) is not None:
            log.append(event)

    async def receive(self) -> None:
        """Stamp events as they arrive, until the connection ends."""
        try:
            while not isinstance(event := await self._connection.receive(), Closed):
                self._events.put_nowait(event)
        except S2SError as error:
            event = Closed(_PROTOCOL_ERROR, str(error))
        self._events.put_nowait(event)


@asynccontextmanager
async def open_session(
    url: str, settings: Mapping[str, object], *, timeout_s: float
) -> AsyncIterator[Session]:
    """Open a session, set it up and switch its microphone on.

    Raises:
        SetupError: No Realtime server answers at ``url``.
        CapacityError: It has no unit for this session.
        SessionLost: It did not take the settings.
    """
    async with configured(url, settings, timeout_s=timeout_s) as connection:
        connection.start_clock()
        session = Session(connection, timeout_s)
        tasks = [
            asyncio.create_task(session.microphone.stream()),
            asyncio.create_task(session.receive()),
        ]
        try:
            yield session
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def configured(
    url: str, settings: Mapping[str, object], *, timeout_s: float
) -> AsyncIterator[Connection]:
    """Open a session and set it up; it hears nothing yet.

    Raises:
        SetupError: No Realtime server answers at ``url``.
        CapacityError: It has no unit for this session.
        SessionLost: It did not take the settings.
    """
    record = Record()
    async with connected(url, timeout_s=timeout_s) as connection:
        await configure(connection, record, settings, timeout_s)
        _check(record, timeout_s)
        yield connection


def _check(record: Record, timeout_s: float) -> None:
    last = record.events[-1]
    if record.closed is not None:
        raise SessionLost(f"the server closed the connection: {record.closed}")
    if record.gave_up_after_s is not None:
        raise SessionLost(f"the server took no settings within {timeout_s:g} s")
    if last.type == "error":
        raise SessionLost(f"the server refused the settings: {last.text('error', 'message')}")
