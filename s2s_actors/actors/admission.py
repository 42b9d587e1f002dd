"""Whether the machine can take on another session just now: by its health, not by its units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from s2s_actors.actors.health import Health
    from s2s_actors.runtime.clock import Clock

CAREFUL_FROM: Final = 0.4
"""From this share of a limit on sessions come one by one: a machine that keeps up is nowhere near
it, and behind the point where it does not, it takes only seconds to the limit."""
CAREFUL_S: Final = 10.0
"""And for so long after that."""
SPACING_S: Final = 1.0
"""Time for the load of one session to show before the next one comes."""


class Admission:
    """Holds new sessions back while the machine is behind, and lets them in one by one near that.

    Promises: with no session at all the next one is always welcome, for then it can't be
    sessions that make the machine late; as long as the machine keeps up nobody is held back.
    It only answers: who wants to know when to ask again sets the timer.
    """

    def __init__(self, health: Health, clock: Clock) -> None:
        self._health = health
        self._clock = clock
        self._careful_until_s = -math.inf
        self._next_at_s = -math.inf

    def welcomes(self, sessions: int) -> bool:
        """Whether a session may begin now, beside so many others."""
        now_s = self._clock.monotonic_s()
        load = self._health.read()
        if load.overloaded or load.figure >= CAREFUL_FROM:
            self._careful_until_s = now_s + CAREFUL_S
        return load.admits(sessions) and (sessions == 0 or now_s >= self._next_at_s)

    def entered(self) -> None:
        """A session has begun."""
        now_s = self._clock.monotonic_s()
        if now_s < self._careful_until_s:
            self._next_at_s = now_s + SPACING_S
