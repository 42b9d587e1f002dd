"""How far this process is behind, and whether it is too far to take on another session."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from s2s_actors.actors.load import Queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from s2s_actors.runtime.clock import Clock

__all__ = ["Health", "HealthLimits", "Lateness", "LoadReport", "Noted", "SourceReport"]

Noted: TypeAlias = Literal["hearing", "events"]
"""What is noted when it was late: sound on its way to voice detection, and events on their way
to the sockets."""

_MODELS: Final = {
    "stt": "speech recognition",
    "llm": "the language model",
    "tts": "the voice",
}
"""What work may wait for."""
_CROWD: Final = 2
"""So many pieces of work make a model late. One alone takes as long as it takes, and another
session would not change that."""

WINDOW_S: Final = 2.0
"""What is remembered is between one and two of these old."""
STEP_S: Final = 0.01
_STEPS: Final = 500
"""Five seconds; what is later than that is not told apart."""
LATE_SHARE: Final = 10
"""One in so many may be later than what is told: a hiccup is not a burden."""
FEWEST_LATE: Final = 5
"""So many have to be late: of few, one in ten would be the latest one."""
RELIEF: Final = 0.5
"""Who was over a limit is below it again at this share of it, so that it does not flap."""


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """What is still in time.

    Attributes:
        max_lag_s: How late sound and events may be; None for no limit.
        max_model_wait_s: How long work that someone waits for may wait for its model; None
            for no limit.
    """

    max_lag_s: float | None = 0.25
    max_model_wait_s: float | None = 3.0


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How late one source is, and how late it may be.

    Attributes:
        source: ``hearing``, ``events``, or the stage whose model work waits for.
        late_s: How late, in seconds.
        limit_s: How late it may be; None for as late as it is.
    """

    source: str
    late_s: float
    limit_s: float | None

    @property
    def figure(self) -> float:
        """Share of the limit that is used up; 1 and more is too late."""
        return self.late_s / self.limit_s if self.limit_s else 0.0

    def __str__(self) -> str:
        match self.source:
            case "hearing":
                return f"hearing is {self.late_s:.1f} s behind"
            case "events":
                return f"events are {self.late_s:.1f} s late"
            case stage:
                return f"work has waited {self.late_s:.1f} s for {_MODELS[stage]}"


@dataclass(frozen=True, slots=True)
class LoadReport:
    """All sources at one moment.

    Attributes:
        sources: Each of them.
        overloaded: Whether another session would be one too many.
    """

    sources: tuple[SourceReport, ...]
    overloaded: bool

    @property
    def figure(self) -> float:
        """The largest share of a limit that is used up; 1 and more is overload."""
        return max(each.figure for each in self.sources)

    def admits(self, sessions: int) -> bool:
        """Whether another session may begin beside so many.

        Without any it may, whatever the load: then it is not sessions that make the machine late.
        """
        return sessions == 0 or not self.overloaded

    @property
    def over(self) -> tuple[str, ...]:
        """What is over its limit, in words."""
        return tuple(str(each) for each in self.sources if each.figure >= 1)


class Lateness:
    """How late one thing is, most of the time, over the last seconds.

    Promises: one in ten may be later than what :meth:`read` gives, so that a single hiccup
    passes unseen; what nobody notes any more is forgotten without a timer. :meth:`note` is safe
    from any thread and takes no lock but once in :data:`WINDOW_S`: two threads that note at
    the same moment may count as one.
    """

    __slots__ = ("_before", "_counts", "_lock", "_turns_at_s")

    def __init__(self) -> None:
        self._counts = [0] * _STEPS
        self._before = [0] * _STEPS
        self._turns_at_s = -math.inf
        self._lock = threading.Lock()

    def note(self, late_s: float, now_s: float) -> None:
        """Count one thing that was so late, or in time (zero, or less)."""
        if now_s >= self._turns_at_s:
            self._turn(now_s)
        step = int(late_s / STEP_S)
        self._counts[0 if step < 0 else min(step, _STEPS - 1)] += 1

    def read(self, now_s: float) -> float:
        """What nine in ten were not later than, in seconds; 0 without enough to tell."""
        with self._lock:
            counts, before, turns_at_s = self._counts, self._before, self._turns_at_s
        if now_s >= turns_at_s + WINDOW_S:
            return 0.0
        if now_s < turns_at_s:
            counts = [a + b for a, b in zip(counts, before, strict=True)]
        left = max(sum(counts) // LATE_SHARE, FEWEST_LATE)
        for step in range(_STEPS - 1, 0, -1):
            left -= counts[step]
            if left <= 0:
                return step * STEP_S
        return 0.0

    def _turn(self, now_s: float) -> None:
        with self._lock:
            if now_s < self._turns_at_s:  # another thread was first
                return
            old = now_s >= self._turns_at_s + WINDOW_S
            self._before = [0] * _STEPS if old else self._counts
            self._counts = [0] * _STEPS
            self._turns_at_s = now_s + WINDOW_S


class Health:
    """Takes in how late things are, from all threads, and tells how much that is.

    Promises: nothing here wakes up by itself, what has passed is reckoned when it is read;
    once overloaded, it is so until every source is well below its limit. Safe from any thread.

    Attributes:
        now_s: The clock that it goes by.
    """

    def __init__(
        self,
        clock: Clock,
        limits: HealthLimits,
        queues: Callable[[], Mapping[str, Queue]] = dict,
    ) -> None:
        """Begin with nothing late.

        Args:
            clock: For how long ago something was noted.
            limits: What is still in time.
            queues: What the models have to do by now, by stage; asked whenever the load is
                read.
        """
        self.now_s = clock.monotonic_s
        self._limits = limits
        self._queues = queues
        self._late: dict[Noted, Lateness] = {"hearing": Lateness(), "events": Lateness()}
        self._overloaded = False
        self._lock = threading.Lock()

    def note(self, source: Noted, late_s: float) -> None:
        """Count one piece that was handled, and how late that was; costs about 1 µs.

        Args:
            source: What it was on its way to.
            late_s: Seconds between the moment when it could have been handled and the one
                when it was. Sound that comes faster than it plays is late only by what it
                is behind its playback.
        """
        self._late[source].note(late_s, self.now_s())

    def read(self) -> LoadReport:
        """The load by now."""
        sources = (*self._lags(), *self._waits())
        figure = max(each.figure for each in sources)
        with self._lock:
            self._overloaded = figure >= (RELIEF if self._overloaded else 1.0)
            return LoadReport(sources, self._overloaded)

    def _lags(self) -> Iterator[SourceReport]:
        now_s = self.now_s()
        for name, each in self._late.items():
            yield SourceReport(name, each.read(now_s), self._limits.max_lag_s)

    def _waits(self) -> Iterator[SourceReport]:
        queues = self._queues()
        for stage in _MODELS:
            queue = queues.get(stage, Queue())
            limit_s = self._limits.max_model_wait_s if queue.wanted >= _CROWD else None
            yield SourceReport(stage, queue.longest_wait_s, limit_s)
