"""How busy the models are: who waits for them, and whether there is time for guesses."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from s2s_actors.runtime.cores import available_cores
from s2s_actors.runtime.urgency import Need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from s2s_actors.runtime.urgency import Urgency

_GUESSES_A_CORE: Final = 2
"""A guess takes 0.1 s to hear and as much to speak; the pause that it is made in lasts 0.5 s."""


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of work that a model has been given.

    Attributes:
        stage: What it is given to: ``stt``, ``llm`` or ``tts``.
        urgency: Whether it is wanted; that may change.
        since_s: When it came, on the clock of the load.
        is_answered: Whether the first of its result is there. Whoever waits for it has
            something then; how long the rest takes is no sign of a crowd.
    """

    stage: str
    urgency: Urgency
    since_s: float
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """What one kind of model has to do.

    Attributes:
        wanted: Pieces of work that somebody waits for, those that run included.
        guesses: Pieces that may prove useless.
        longest_wait_s: How long the oldest wanted piece has been without any result.
    """

    wanted: int = 0
    guesses: int = 0
    longest_wait_s: float = 0.0


class Load:
    """Counts the work of all sessions that runs on this machine or waits for a model.

    Promises: a guess is made only while fewer wait for a first result than there are cores, and
    few guesses are under way. What is wanted goes before guesses wherever it waits, so a guess
    costs others at most the call that runs; and the silence that ends a turn has room for those
    of several sessions: if only some are made, the others wait the longer for it. Safe from
    any thread; every question costs as much as there are sessions at work.
    """

    def __init__(
        self, cores: int | None = None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with nothing.

        Args:
            cores: How many there are; None for those that this process may use.
            now_s: The clock, in seconds.
        """
        self._cores = cores or available_cores()
        self._now_s = now_s
        self._pieces: list[Piece] = []
        self._lock = threading.Lock()

    @property
    def may_guess(self) -> bool:
        """Whether there is time for work that may prove useless; never blocks for long."""
        with self._lock:
            needs = [each.urgency.need for each in self._pieces if not each.is_answered]
            guesses = sum(each.urgency.need is Need.GUESS for each in self._pieces)
        return needs.count(Need.WANTED) < self._cores and guesses < self._cores * _GUESSES_A_CORE

    def queues(self) -> dict[str, Queue]:
        """What the models have to do, by stage; those with nothing to do are missing."""
        with self._lock:
            pieces = list(self._pieces)
            now_s = self._now_s()
        return {
            stage: _queue([each for each in pieces if each.stage == stage], now_s)
            for stage in {each.stage for each in pieces}
        }

    @contextmanager
    def working(self, urgency: Urgency, stage: str = "") -> Iterator[Piece]:
        """Count a piece of work while it waits and runs; a guess that proves right is wanted.

        Args:
            urgency: Whether it is a guess.
            stage: What it is given to.

        Yields:
            The piece, to note when it is answered.
        """
        piece = Piece(stage, urgency, self._now_s())
        with self._lock:
            self._pieces.append(piece)
        try:
            yield piece
        finally:
            with self._lock:
                self._pieces.remove(piece)


def _queue(pieces: list[Piece], now_s: float) -> Queue:
    wanted = [each for each in pieces if not each.urgency.speculative]
    # Of two reads of the clock in two threads, the first may come to the lock second.
    waits_s = [max(0.0, now_s - each.since_s) for each in wanted if not each.is_answered]
    return Queue(len(wanted), len(pieces) - len(wanted), max(waits_s, default=0.0))
