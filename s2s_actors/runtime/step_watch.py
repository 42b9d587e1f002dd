"""Looks again at a step that may never end, when nobody else comes by to look."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["StepWatch"]

_GRACE_S: Final = 0.005
"""To be sure that a limit is over, and not almost."""


class StepWatch:
    """A thread that is there only while somebody waits for the end of a step.

    Promises: a step that goes on beyond a limit is reported soon after, whether anything else
    happens or not; to begin costs nothing while the watch goes on, and the watch wakes no more
    than once for each limit, so it may be begun with every message.

    Args:
        name: Of the thread.
        since_s: When the current step began, in monotonic time; None between two steps.
        look_after: Takes that time, once for each limit that the step has outlasted.
        limits_s: What a step may take, in seconds.
    """

    def __init__(
        self,
        name: str,
        since_s: Callable[[], float | None],
        look_after: Callable[[float], None],
        limits_s: tuple[float, ...],
    ) -> None:
        self._name = name
        self._since_s = since_s
        self._look_after = look_after
        self._limits_s = sorted(limits_s)
        self._lock = threading.Lock()
        self._over: threading.Event | None = None

    def begin(self) -> None:
        """Watch the current step, and those after it as long as they follow on each other."""
        if self._over is None:
            self._start()

    def end(self) -> None:
        """There is nothing to watch any more."""
        over = self._over
        if over is not None:
            over.set()

    def _start(self) -> None:
        with self._lock:
            if self._over is not None:
                return
            over = self._over = threading.Event()
        try:
            threading.Thread(target=self._watch, args=(over,), name=self._name, daemon=True).start()
        except RuntimeError:  # no thread to be had: whoever comes next tries again
            self._over = None

    def _watch(self, over: threading.Event) -> None:
        while (since_s := self._step(over)) is not None:
            age_s = time.monotonic() - since_s
            if age_s > self._limits_s[0]:
                self._look_after(since_s)
            ahead_s = [limit_s - age_s for limit_s in self._limits_s if limit_s > age_s]
            over.wait((ahead_s[0] if ahead_s else self._limits_s[0]) + _GRACE_S)

    def _step(self, over: threading.Event) -> float | None:
        """When the step began that is to be watched; None ends the watch."""
        with self._lock:
            since_s = None if over.is_set() else self._since_s()
            if since_s is None:
                self._over = None
            return since_s
