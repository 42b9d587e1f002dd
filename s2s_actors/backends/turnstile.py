"""Who may use a model next: first come, first served, and a cancelled call leaves the queue."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["Turnstile"]


@dataclass(eq=False, slots=True)
class _Waiter:
    wake: threading.Event = field(default_factory=threading.Event)
    admitted: bool = False


class Turnstile:
    """Lets ``width`` calls through at once, in the order in which they came.

    A plain lock gives no order: a thread that releases and takes it in a loop, as one does
    that writes token after token, keeps it to itself. Nor can a wait for a lock be cancelled,
    and a drain would have to sit out the calls of all other sessions.
    """

    def __init__(self, width: int = 1) -> None:
        self._free = width
        self._queue: deque[_Waiter] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, cancel: CancelToken) -> Iterator[bool]:
        """Wait for a turn and hold it inside the block.

        Yields:
            Whether there is still something to do; False once the work is cancelled.
        """
        admitted = self._enter(cancel)
        try:
            yield admitted and not cancel.cancelled
        finally:
            if admitted:
                self._leave()

    def _enter(self, cancel: CancelToken) -> bool:
        if cancel.cancelled:
            return False
        waiter = _Waiter()
        with self._lock:
            if self._free and not self._queue:
                self._free -= 1
                return True
            self._queue.append(waiter)
        forget = cancel.on_cancel(waiter.wake.set)
        waiter.wake.wait()
        forget()
        with self._lock:
            if not waiter.admitted:
                self._queue.remove(waiter)
            return waiter.admitted

    def _leave(self) -> None:
        with self._lock:
            if self._queue:
                waiter = self._queue.popleft()
                waiter.admitted = True
                waiter.wake.set()
            else:
                self._free += 1
