"""How busy the models of this process are: whether there is time for guesses."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from s2s_actors.runtime.cores import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.urgency import Urgency


class Load:
    """Counts the work of all sessions that runs on this machine or waits for a model.

    Promises: a guess is made only while most of the cores have nothing else to do, so that
    work ahead of time in one session never holds up work that another one waits for. Safe
    from any thread.
    """

    def __init__(self, cores: int | None = None) -> None:
        """Begin with nothing.

        Args:
            cores: How many there are; None for those that this process may use.
        """
        self._cores = cores or available_cores()
        self._running: list[Urgency] = []
        self._lock = threading.Lock()

    @property
    def may_guess(self) -> bool:
        """Whether there is time for work that may prove useless; never blocks for long."""
        with self._lock:
            guesses = sum(each.speculative for each in self._running)
            wanted = len(self._running) - guesses
        return wanted < max(1, self._cores // 2) and guesses < self._cores

    @contextmanager
    def working(self, urgency: Urgency) -> Iterator[None]:
        """Count a piece of work while it runs; a guess that proves right counts as wanted."""
        with self._lock:
            self._running.append(urgency)
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(urgency)
