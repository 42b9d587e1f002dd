"""Clients that wait for a unit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from s2s_actors.actors.messages import QueueMoved, TimerFired

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.messages import Claim
    from s2s_actors.runtime.clock import Clock, Timer
    from s2s_actors.runtime.outlet import Outlet

TIMER = "queue"


class WaitingLine:
    """First come, first served, and nobody waits longer than the line allows.

    Promises: a claim leaves the line exactly once, by :meth:`next`, :meth:`expire` or
    :meth:`leave`, and takes its timer with it; who wants to know its place is told of each
    place once.
    """

    def __init__(self, limit: int, timeout_s: float, clock: Clock) -> None:
        self.limit = limit
        self._timeout_s = timeout_s
        self._clock = clock
        self._serial = 0
        self._places: deque[_Place] = deque()
        self._untold = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait."""
        return len(self._places) >= self.limit

    @property
    def since_s(self) -> float | None:
        """Since when the first one has been waiting, in Unix time; None if nobody waits."""
        return self._places[0].since_s if self._places else None

    def join(self, claim: Claim, outlet: Outlet) -> None:
        """Wait at the end of the line; ``outlet`` hears when the time is up."""
        self._serial += 1
        fired = TimerFired(None, TIMER, self._serial)
        timer = self._clock.tell_later(self._timeout_s, outlet, fired)
        self._places.append(_Place(claim, self._serial, timer, self._clock.wall_s()))

    def next(self) -> Claim | None:
        """Whose turn it is."""
        return self._take(self._places[0]) if self._places else None

    def expire(self, serial: int) -> Claim | None:
        """Whose time is up; None if they have left the line before."""
        place = next((place for place in self._places if place.serial == serial), None)
        return None if place is None else self._take(place)

    def leave(self, session_id: str) -> None:
        """Forget a client, if it waits."""
        for place in self._places:
            if place.claim.session_id == session_id:
                self._take(place)
                return

    def tell(self, wait_s: Callable[[int], float | None]) -> None:
        """Tell those who want to know, and whose place has changed, where they stand.

        Args:
            wait_s: Estimates how long it takes from a place, counted from 1.
        """
        for position, place in enumerate(
            islice(self._places, self._untold, None), self._untold + 1
        ):
            if place.claim.news is not None:
                place.claim.news.put(QueueMoved(position, wait_s(position)))
        self._untold = len(self._places)

    def _take(self, place: _Place) -> Claim:
        place.timer.cancel()
        index = self._places.index(place)
        del self._places[index]
        self._untold = min(self._untold, index)
        return place.claim


@dataclass(frozen=True, eq=False, slots=True)
class _Place:
    """A place in the line."""

    claim: Claim
    serial: int
    timer: Timer
    since_s: float
