"""Where an actor puts its messages: the only thing it knows of its neighbours."""

from __future__ import annotations

from typing import Protocol


class LaneFullError(Exception):
    """The receiver's data lane is full; nothing was queued."""


class Outlet(Protocol):
    """Something that takes messages and never blocks the sender."""

    def put(self, message: object) -> None:
        """Pass a message on; a message to a stopped actor is dropped.

        Raises:
            LaneFullError: The receiver is too far behind to take more data. Control messages
                and markers are always taken.
        """


class Slot:
    """An outlet whose receiver can be exchanged: a place in a unit, not an actor.

    Neighbours keep the slot; supervision puts a fresh actor behind it. Assignment of one
    reference is atomic, so senders need no lock.
    """

    def __init__(self, receiver: Outlet | None = None) -> None:
        self._receiver = receiver

    def fill(self, receiver: Outlet) -> None:
        """Put another receiver behind the slot."""
        self._receiver = receiver

    def put(self, message: object) -> None:
        """Pass a message on to whoever is behind the slot now."""
        receiver = self._receiver
        if receiver is not None:
            receiver.put(message)
