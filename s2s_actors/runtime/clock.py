"""Time for actors: readings, and messages that come later."""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.runtime.outlet import Outlet

logger = logging.getLogger(__name__)


class Timer(Protocol):
    """A message that is due later."""

    def cancel(self) -> None:
        """Don't send it. Idempotent; one that is being sent just now still arrives."""


class Clock(Protocol):
    """Where actors get the time from. Safe from any thread."""

    def monotonic_s(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def wall_s(self) -> float:
        """Unix time."""
        ...

    def tell_later(self, delay_s: float, outlet: Outlet, message: object) -> Timer:
        """Put a control message or marker into an outlet once ``delay_s`` have passed."""
        ...


class _Entry:
    """A pending message in the order of its due time; equal times keep their order."""

    __slots__ = ("_forget", "due_s", "message", "outlet", "serial")

    def __init__(
        self,
        due_s: float,
        serial: int,
        outlet: Outlet,
        message: object,
        forget: Callable[[_Entry], None],
    ) -> None:
        self.due_s = due_s
        self.serial = serial
        self.outlet = outlet
        self.message = message
        self._forget = forget

    def __lt__(self, other: _Entry) -> bool:
        return (self.due_s, self.serial) < (other.due_s, other.serial)

    def cancel(self) -> None:
        self._forget(self)

    def deliver(self) -> None:
        try:
            self.outlet.put(self.message)
        except Exception:
            # One bad receiver must not stop the clock for all the others.
            logger.exception("a timer's message could not be delivered")


class SystemClock:
    """Real time. One daemon thread sleeps until exactly the next timer is due.

    Promises: no wake-up while no timer is due; :meth:`close` ends the thread, and timers
    that are set later never come.
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._serial = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def monotonic_s(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        return time.monotonic()

    def wall_s(self) -> float:
        """Unix time."""
        return time.time()

    def tell_later(self, delay_s: float, outlet: Outlet, message: object) -> Timer:
        """Put a message into an outlet once ``delay_s`` have passed."""
        due_s = time.monotonic() + delay_s
        entry = _Entry(due_s, next(self._serial), outlet, message, self._forget)
        with self._changed:
            if self._closed:
                return entry
            heapq.heappush(self._entries, entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
            elif self._entries[0] is entry:
                self._changed.notify()
        return entry

    def close(self) -> None:
        """Forget all timers and end the thread. Idempotent."""
        with self._changed:
            self._closed = True
            self._entries.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _forget(self, entry: _Entry) -> None:
        with self._changed:
            if entry not in self._entries:
                return
            was_next = self._entries[0] is entry
            # Few timers are pending at a time, so a linear search is cheaper than
            # cancelled entries that pile up and wake the thread for nothing.
            self._entries.remove(entry)
            heapq.heapify(self._entries)
            if was_next:
                self._changed.notify()

    def _run(self) -> None:
        while (entry := self._wait_for_next()) is not None:
            entry.deliver()

    def _wait_for_next(self) -> _Entry | None:
        with self._changed:
            while not self._closed:
                if not self._entries:
                    self._changed.wait()
                    continue
                left_s = self._entries[0].due_s - time.monotonic()
                if left_s <= 0:
                    return heapq.heappop(self._entries)
                self._changed.wait(min(left_s, threading.TIMEOUT_MAX))
        return None


class ManualClock:
    """Time that moves only when a test says so."""

    def __init__(self, *, wall_s: float = 1_700_000_000.0) -> None:
        self._entries: list[_Entry] = []
        self._serial = itertools.count()
        self._lock = threading.Lock()
        self._now_s = 0.0
        self._wall_at_zero_s = wall_s

    def monotonic_s(self) -> float:
        """Seconds that the test has let pass."""
        return self._now_s

    def wall_s(self) -> float:
        """Unix time, as the test wants it."""
        return self._wall_at_zero_s + self._now_s

    def tell_later(self, delay_s: float, outlet: Outlet, message: object) -> Timer:
        """Put a message into an outlet once :meth:`advance` has passed ``delay_s``."""
        with self._lock:
            due_s = self._now_s + delay_s
            entry = _Entry(due_s, next(self._serial), outlet, message, self._forget)
            heapq.heappush(self._entries, entry)
        return entry

    @property
    def pending(self) -> list[object]:
        """Messages that are due later, the next one first."""
        with self._lock:
            return [entry.message for entry in sorted(self._entries)]

    @property
    def next_s(self) -> float | None:
        """When the next message is due, on :meth:`monotonic_s`; None if none is."""
        with self._lock:
            return self._entries[0].due_s if self._entries else None

    def advance_to_next(self) -> None:
        """Let time pass until the next message is due, and deliver that one, if there is one."""
        if (entry := self._pop_due(math.inf)) is not None:
            entry.deliver()

    def advance(self, seconds: float) -> None:
        """Let time pass; what falls due is delivered in order, each at its own moment."""
        end_s = self._now_s + seconds
        while (entry := self._pop_due(end_s)) is not None:
            entry.deliver()
        self._now_s = end_s

    def _pop_due(self, end_s: float) -> _Entry | None:
        with self._lock:
            if not self._entries or self._entries[0].due_s > end_s:
                return None
            entry = heapq.heappop(self._entries)
            self._now_s = max(self._now_s, entry.due_s)
            return entry

    def _forget(self, entry: _Entry) -> None:
        with self._lock:
            if entry in self._entries:
                self._entries.remove(entry)
                heapq.heapify(self._entries)
