"""Clients that wait for a unit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.actors.messages import TimerFired

if TYPE_CHECKING:
    from s2s_actors.actors.messages import Claim
    from s2s_actors.runtime.clock import Clock, Timer
    from s2s_actors.runtime.outlet import Outlet

TIMER = "queue"


class WaitingLine:
    """First come, first served, and nobody waits longer than the line allows.

    Promises: a claim leaves the line exactly once, by :meth:`next`, :meth:`expire` or
    :meth:`leave`, and takes its timer with it.
    """

    def __init__(self, limit: int, timeout_s: float, clock: Clock) -> None:
        self.limit = limit
        self._timeout_s = timeout_s
        self._clock = clock
        self._serial = 0
        self._places: deque[_Place] = deque()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait."""
        return len(self._places) >= self.limit

    def join(self, claim: Claim, outlet: Outlet) -> None:
        """Wait at the end of the line; ``outlet`` hears when the time is up."""
        self._serial += 1
        fired = TimerFired(None, TIMER, self._serial)
        timer = self._clock.tell_later(self._timeout_s, outlet, fired)
        self._places.append(_Place(claim, self._serial, timer))

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

    def _take(self, place: _Place) -> Claim:
        place.timer.cancel()
        self._places.remove(place)
        return place.claim


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the line."""

    claim: Claim
    serial: int
    timer: Timer
