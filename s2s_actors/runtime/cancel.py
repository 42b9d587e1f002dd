"""Cancel tokens: how a busy stage learns that its work is not wanted any more."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class CancelToken:
    """A switch that is thrown once, from any thread, and never goes back.

    A model polls :attr:`cancelled` between chunks; blocking I/O registers what unblocks
    it with :meth:`on_cancel`. Cancelling a token cancels its children.
    """

    def __init__(self) -> None:
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def cancelled(self) -> bool:
        """Whether the work may stop; never blocks."""
        return self._cancelled

    def cancel(self) -> None:
        """Throw the switch and run the callbacks, in this thread. Idempotent."""
        with self._lock:
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Run ``callback`` once on cancellation, at once if that has happened.

        The callback must be quick and must not raise: it runs in the thread that cancels.

        Returns:
            A function that takes the callback back. Idempotent.
        """
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def child(self) -> CancelToken:
        """A token that is cancelled with this one, or alone."""
        child = CancelToken()
        forget = self.on_cancel(child.cancel)
        # A session makes many children: each drops out of its parent once it is cancelled.
        child.on_cancel(forget)
        return child

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
