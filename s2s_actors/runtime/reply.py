"""Answers from actors to someone who is not an actor."""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from typing import Generic, TypeVar

T = TypeVar("T")


class ReplyPort(Generic[T]):
    """One answer, from an actor's thread to whoever asked.

    Promises: of many calls of :meth:`send` at most one returns True, and then the value
    reaches the receiver, by :attr:`future` or by :meth:`withdraw`. A value that owns something
    (a lease) is thus never lost: the sender keeps it, or the receiver has it.

    A coroutine waits so::

        try:
            granted = await asyncio.wrap_future(port.future)
        except asyncio.CancelledError:
            late = port.withdraw()  # the answer may have come with the cancellation
            ...
    """

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: Future[T] = Future()

    def send(self, value: T) -> bool:
        """Answer; safe from any thread, never raises.

        Returns:
            False if there has been an answer or nobody waits for one any more.
        """
        try:
            # One lock inside the future decides between this and cancel().
            self.future.set_result(value)
        except InvalidStateError:
            return False
        return True

    def withdraw(self) -> T | None:
        """Stop waiting: a later :meth:`send` returns False. Idempotent, never blocks.

        Returns:
            The answer if it came before, else None.
        """
        if self.future.cancel():
            return None
        return self.future.result(timeout=0)
