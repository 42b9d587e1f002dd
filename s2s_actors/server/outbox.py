"""From actor threads to the event loop: bounded, ordered, never blocking."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.health import Health

_REASON_LIMIT_BYTES = 123
"""Room for a reason in a close frame (RFC 6455, section 5.5: 125 bytes with the code)."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """The server ends the connection with this close frame."""

    code: int
    reason: str


class Outbox:
    """Server events on their way to one client; the actors know it as a ``ClientPort``.

    Promises: any thread may call :meth:`send` and :meth:`close`, neither ever blocks; events
    come out in the order in which they went in; nothing comes after the farewell. A client
    that reads too slowly makes the outbox overflow, and then it holds nothing any more:
    audio that is late is worthless, so there is no point in making the pipeline wait.

    Made on the event loop that reads it, whose lag it notes whenever it wakes the loop.
    """

    def __init__(self, *, limit_events: int, limit_bytes: int, health: Health) -> None:
        self._loop = asyncio.get_running_loop()
        self._health = health
        self._limit_events = limit_events
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._held: list[bytes] | None = []
        self._farewell: Farewell | None = None
        self._closed = False
        # Set while a wake-up is on its way to the loop, so that a burst costs only one.
        self._woken = False
        self._readable = asyncio.Event()
        self.overflowed: asyncio.Future[None] = self._loop.create_future()

    def send(self, frame: bytes) -> None:
        """Queue an event of the session. A no-op once the outbox is closed."""
        self._queue(frame, in_session=True)

    def announce(self, frame: bytes) -> None:
        """Queue an event for a client that has no session yet; what is held goes on waiting."""
        self._queue(frame, in_session=False)

    def answer(self, frame: bytes) -> None:
        """Queue an event that is not the session's own (an ``error`` about a bad frame).

        It waits for the first event of the session: clients rely on ``session.created``
        coming before anything else.
        """
        with self._lock:
            waits = self._held is not None
            if self._held is not None and len(self._held) < self._limit_events:
                self._held.append(frame)
        if not waits:
            self.send(frame)

    def close(self, code: int, reason: str) -> None:
        """Say farewell after what is already queued. Idempotent: the first one counts."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._farewell = Farewell(code, _shorten(reason))
            wake = self._must_wake()
        if wake:
            self._call_on_loop()

    def discard(self) -> None:
        """Drop everything: the client is gone."""
        with self._lock:
            self._drop()

    async def next(self) -> bytes | Farewell:
        """The next event, or the farewell; waits until there is one."""
        while True:
            with self._lock:
                if self._frames:
                    frame = self._frames.popleft()
                    self._bytes -= len(frame)
                    return frame
                if self._farewell is not None:
                    return self._farewell
                self._woken = False
                self._readable.clear()
            await self._readable.wait()

    def _queue(self, frame: bytes, *, in_session: bool) -> None:
        with self._lock:
            if self._closed:
                return
            self._append(frame)
            if in_session:
                held, self._held = self._held or [], None
                for each in held:
                    self._append(each)
            wake = self._must_wake()
        if wake:
            self._call_on_loop()

    def _append(self, frame: bytes) -> None:
        if self._closed:
            return
        self._frames.append(frame)
        self._bytes += len(frame)
        if len(self._frames) > self._limit_events or self._bytes > self._limit_bytes:
            self._drop()
            self._post(self._report_overflow)

    def _drop(self) -> None:
        self._closed = True
        self._frames.clear()
        self._bytes = 0

    def _must_wake(self) -> bool:
        if self._woken:
            return False
        self._woken = True
        return True

    def _call_on_loop(self) -> None:
        self._post(self._readable.set)

    def _post(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._run, callback, self._health.now_s())
        except RuntimeError:  # the loop is closed: the client is gone too
            return

    def _run(self, callback: Callable[[], object], posted_s: float) -> None:
        # Not the time of the loop: one that has slept does not know what time it is.
        self._health.note("events", self._health.now_s() - posted_s)
        callback()

    def _report_overflow(self) -> None:
        if not self.overflowed.done():
            self.overflowed.set_result(None)


def _shorten(reason: str) -> str:
    """Cut to what a close frame can carry, without cutting a character in two."""
    return reason.encode()[:_REASON_LIMIT_BYTES].decode(errors="ignore")
