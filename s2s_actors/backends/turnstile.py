"""Who may use a model next: what is wanted before guesses, and who has nothing yet before others.

The order is strict between classes (``runtime.urgency.Need``). Within a class
goes first what fewer pieces of the same work went before: whoever has heard nothing of an
answer yet is served before those who still have something to listen to. What is equal in both
goes as it came. This needs no clock, and nobody has to know how long a piece will take.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from s2s_actors.runtime.urgency import Need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.urgency import Urgency

__all__ = ["Turnstile"]

PATIENCE: Final = 4
"""How many may overtake a call before it counts as one piece earlier: with that, no call waits
for ever, however many begin."""


@dataclass(eq=False, slots=True)
class _Waiter:
    urgency: Urgency
    piece: int
    wake: threading.Event = field(default_factory=threading.Event)
    admitted: bool = False
    overtaken: int = 0

    @property
    def rank(self) -> int:
        return max(0, self.piece - self.overtaken // PATIENCE)

    @property
    def order(self) -> tuple[Need, int]:
        return self.urgency.need, self.rank

    @property
    def can_wait(self) -> bool:
        """Whether it must leave one place free.

        It may be long, as first pieces are not, and those would have to sit it out.
        """
        return self.rank > 0 or self.urgency.need is Need.GLANCE


class Turnstile:
    """Lets ``width`` calls through at once, the most urgent one next.

    Promises: what is wanted goes before guesses, and these before mere looks; a guess that
    proves right while it waits is wanted from then on, and keeps its place. First pieces go
    before second ones, but nobody is overtaken for ever within a class. Where there are several
    places, later pieces and looks leave one of them to whatever comes next. A cancelled call
    leaves the queue.

    A plain lock gives no order: a thread that releases and takes it in a loop, as one does
    that writes token after token, keeps it to itself. Nor can a wait for a lock be cancelled,
    and a drain would have to sit out the calls of all other sessions.
    """

    def __init__(self, width: int = 1) -> None:
        self._free = width
        self._kept = 1 if width > 1 else 0
        # In the order in which they came.
        self._queue: list[_Waiter] = []
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, cancel: CancelToken, urgency: Urgency, piece: int = 0) -> Iterator[bool]:
        """Wait for a turn and hold it inside the block.

        Args:
            cancel: Ends the wait.
            urgency: The class of the work; read anew whenever a turn is given away.
            piece: How many pieces of the same work went before this one.

        Yields:
            Whether there is still something to do; False once the work is cancelled.
        """
        admitted = self._enter(cancel, _Waiter(urgency, piece))
        try:
            yield admitted and not cancel.cancelled
        finally:
            if admitted:
                self._leave()

    def _enter(self, cancel: CancelToken, waiter: _Waiter) -> bool:
        if cancel.cancelled:
            return False
        with self._lock:
            self._queue.append(waiter)
            self._admit()
            if waiter.admitted:
                return True
        forget = cancel.on_cancel(waiter.wake.set)
        waiter.wake.wait()
        forget()
        with self._lock:
            if not waiter.admitted:
                self._queue.remove(waiter)
            return waiter.admitted

    def _leave(self) -> None:
        with self._lock:
            self._free += 1
            self._admit()

    def _admit(self) -> None:
        """Give the free places away."""
        while waiter := self._next():
            self._queue.remove(waiter)
            self._free -= 1
            waiter.admitted = True
            waiter.wake.set()

    def _next(self) -> _Waiter | None:
        """Who goes next, if anybody may."""
        spare = self._free > self._kept
        able = [each for each in self._queue if spare or not each.can_wait] if self._free else []
        first = min(able, key=lambda waiter: waiter.order, default=None)
        for earlier in self._queue:
            if first is None or earlier is first:
                break
            earlier.overtaken += earlier.urgency.need is first.urgency.need
        return first
