"""The two-lane mailbox: control overtakes, data keeps its order and is bounded."""

from __future__ import annotations

import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from s2s_actors.runtime.outlet import LaneFullError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka._envelope import Envelope


class Data:
    """Work: keeps its place in the data lane and is refused when the lane is full."""

    __slots__ = ()

    # A subclass may replace this by a dataclass field, which must then be its last one:
    # dataclasses take an inherited attribute for the field's default.
    @property
    def cost_bytes(self) -> int:
        """What the message adds to the lane's bound in bytes."""
        return 0


class Marker:
    """A life-cycle signal that keeps its place among the data, and is never refused."""

    __slots__ = ()


class Pressing(Marker):
    """A marker that a busy thread comes to at once, with what is ahead of it in its mailbox.

    For the end of a session: it waits for what the session has left, not for other sessions.
    """

    __slots__ = ()


class Control:
    """A message that overtakes data, and is never refused."""

    __slots__ = ()


class TwoLaneMailbox:
    """A pykka inbox with a control lane that is served first and a bounded data lane.

    Promises: data and markers come out in the order in which they went in; whatever is in
    the control lane comes out before them, in its own order; only :class:`Data` counts
    for the bounds, and only :class:`Data` is ever refused. Anything of no known kind is
    control, pykka's own stop message among them.

    Any number of threads may put, one thread gets: either its own, which waits in :meth:`get`, or
    one that serves many mailboxes and is told of each message (:meth:`announce_to`).

    Args:
        limit_messages: Data messages that may wait.
        limit_bytes: Sum of the ``cost_bytes`` of waiting data. A single larger message is
            let into a lane without data: it could never be delivered otherwise.
    """

    __slots__ = (
        "_announce",
        "_bytes",
        "_control",
        "_count",
        "_data",
        "_limit_bytes",
        "_limit_messages",
        "_lock",
        "_ready",
    )

    def __init__(self, limit_messages: int, limit_bytes: int) -> None:
        self._limit_messages = limit_messages
        self._limit_bytes = limit_bytes
        self._control: deque[Envelope[Any]] = deque()
        self._data: deque[Envelope[Any]] = deque()
        self._count = 0
        self._bytes = 0
        self._lock = threading.Lock()
        # One token for each message in the lanes. SimpleQueue blocks in C, without
        # polling, and a put wakes one thread: a Condition costs three times as much.
        self._ready: SimpleQueue[None] = SimpleQueue()
        self._announce: Callable[[bool], None] | None = None

    def announce_to(self, announce: Callable[[bool], None]) -> None:
        """Have each message announced, once, to who will then call :meth:`take`.

        To be called before the first message comes.

        Args:
            announce: Told whether the message is :class:`Pressing`.
        """
        self._announce = announce

    def put(self, envelope: Envelope[Any], /) -> None:
        """Queue a message; never blocks.

        Raises:
            LaneFullError: The message is data and the lane is full; nothing was queued.
        """
        message = envelope.message
        if isinstance(message, Data):
            self._put_data(envelope, message.cost_bytes)
        elif isinstance(message, Marker):
            self._data.append(envelope)
        else:
            self._control.append(envelope)
        if self._announce is None:
            self._ready.put(None)
        else:
            self._announce(isinstance(message, Pressing))

    def get(self) -> Envelope[Any]:
        """Take the next message; blocks until there is one, unless they are announced."""
        if self._announce is None:
            self._ready.get()
        return self.take()

    def take(self) -> Envelope[Any]:
        """Take the next message; there must be one."""
        if self._control:
            return self._control.popleft()
        envelope = self._data.popleft()
        if isinstance(envelope.message, Data):
            with self._lock:
                self._count -= 1
                self._bytes -= envelope.message.cost_bytes
        return envelope

    def __len__(self) -> int:
        """How many messages there are now, of all kinds."""
        return len(self._control) + len(self._data)

    def empty(self) -> bool:
        """Whether there is no message now."""
        return not (self._control or self._data)

    @property
    def next_message(self) -> object:
        """What :meth:`take` would take; only for who gets, and only if there is one."""
        return (self._control or self._data)[0].message

    @property
    def waiting_messages(self) -> int:
        """Data messages that wait (markers and control not counted)."""
        return self._count

    @property
    def waiting_bytes(self) -> int:
        """Sum of the cost of the data that waits."""
        return self._bytes

    def _put_data(self, envelope: Envelope[Any], cost_bytes: int) -> None:
        with self._lock:
            full = self._count >= self._limit_messages
            heavy = self._count > 0 and self._bytes + cost_bytes > self._limit_bytes
            if full or heavy:
                raise LaneFullError
            self._count += 1
            self._bytes += cost_bytes
            self._data.append(envelope)
