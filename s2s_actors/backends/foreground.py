"""Whose turn it is on the cores: hearing and speaking are short, and somebody waits for them.

A language model writes for seconds, far ahead of what is being spoken. Beside it the voice takes
twice as long for the first words of an answer, which is what the user waits for. So the
language model gives way between two steps.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.urgency import Urgency

__all__ = ["FOREGROUND", "Foreground"]

LONGEST_S: Final = 0.1
"""How long a step is put off at most: about what the first words of an answer take to speak.
However much is heard and spoken, the language model gets on."""


class Foreground:
    """Lets short work go first.

    Promises: long work waits :data:`LONGEST_S` at most, and what is wanted never waits for a
    guess. Safe from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: list[Urgency] = []

    @contextmanager
    def work(self, urgency: Urgency) -> Iterator[None]:
        """Do short work inside the block."""
        with self._changed:
            self._running.append(urgency)
        try:
            yield
        finally:
            with self._changed:
                self._running.remove(urgency)
                self._changed.notify_all()

    def give_way(self, urgency: Urgency) -> None:
        """Wait before a step of long work, as long as short work goes on."""
        with self._changed:
            self._changed.wait_for(lambda: not self._goes_first(urgency), LONGEST_S)

    def _goes_first(self, urgency: Urgency) -> bool:
        return any(urgency.speculative or not each.speculative for each in self._running)


FOREGROUND: Final = Foreground()
"""One for the process, as there is one set of cores."""
