"""How fast units come free, judged by the sessions of late."""

from __future__ import annotations

import statistics
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from s2s_actors.runtime.clock import Clock

REMEMBERED: Final = 32
"""Sessions that the estimate rests on: enough for a median, few enough to follow the day."""


class Turnover:
    """Remembers how long units were held.

    Promises: before the first session has ended it estimates nothing; one very long or very
    short session among many changes little.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_s: dict[int, float] = {}
        self._lengths_s: deque[float] = deque(maxlen=REMEMBERED)

    def began(self, unit: int) -> None:
        """A session has got a unit."""
        self._since_s[unit] = self._clock.monotonic_s()

    def ended(self, unit: int) -> None:
        """The unit is free again; one that nobody had is none of our business."""
        since_s = self._since_s.pop(unit, None)
        if since_s is not None:
            self._lengths_s.append(self._clock.monotonic_s() - since_s)

    def wait_s(self, position: int) -> float | None:
        """How long it takes until so many units have come free; None if that is unknown.

        ``n`` sessions that last ``t`` each end ``t / n`` apart, wherever they stand now.
        """
        if not self._lengths_s or not self._since_s:
            return None
        return position * statistics.median(self._lengths_s) / len(self._since_s)
