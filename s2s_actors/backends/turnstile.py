"""Who may use a model next: what is wanted before guesses, and first come, first served."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.urgency import Urgency

__all__ = ["Turnstile"]


@dataclass(eq=False, slots=True)
class _Waiter:
    urgency: Urgency
    wake: threading.Event = field(default_factory=threading.Event)
    admitted: bool = False


class Turnstile:
    """Lets ``width`` calls through at once, in the order in which they came.

    Work on a guess never overtakes work that is wanted; a guess that proves right while it
    waits is wanted from then on, and keeps its place. A cancelled call leaves the queue.

    A plain lock gives no order: a thread that releases and takes it in a loop, as one does
    that writes token after token, keeps it to itself. Nor can a wait for a lock be cancelled,
    and a drain would have to sit out the calls of all other sessions.
    """

    def __init__(self, width: int = 1) -> None:
        self._free = width
        self._queue: deque[_Waiter] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, cancel: CancelToken, urgency: Urgency) -> Iterator[bool]:
        """Wait for a turn and hold it inside the block.

        Args:
            cancel: Ends the wait.
            urgency: Whether the work is a guess; read anew whenever a turn is given away.

        Yields:
            Whether there is still something to do; False once the work is cancelled.
        """
        admitted = self._enter(cancel, urgency)
        try:
            yield admitted and not cancel.cancelled
        finally:
            if admitted:
                self._leave()

    def _enter(self, cancel: CancelToken, urgency: Urgency) -> bool:
        if cancel.cancelled:
            return False
        waiter = _Waiter(urgency)
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
                waiter = self._next()
                self._queue.remove(waiter)
                waiter.admitted = True
                waiter.wake.set()
            else:
                self._free += 1

    def _next(self) -> _Waiter:
        wanted = (waiter for waiter in self._queue if not waiter.urgency.speculative)
        return next(wanted, self._queue[0])
