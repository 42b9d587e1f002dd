"""Which backends are out of service, because they failed in one session after another."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from s2s_actors.actors.messages import StageFailed, StageWorked, TimerFired
from statecharts import breaker as chart
from statecharts.breaker import BreakerChart

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.runtime.clock import Clock, Timer
    from s2s_actors.runtime.outlet import Outlet
    from statecharts.base import Effect

logger = logging.getLogger(__name__)

BREAKER_TIMER: Final = "breaker"
STAGES: Final = ("vad", "stt", "llm", "tts")
"""Those with a backend, which all sessions share."""
FIRST_BACK_OFF_S: Final = 1.0
LONGEST_BACK_OFF_S: Final = 60.0
PROBE_S: Final = 10.0
"""Who comes to talk has begun to by then; a client that only holds the line shows nothing."""
_OUT: Final = frozenset({"opened", "probing"})


class Breakers:
    """One breaker for each backend.

    Promises: with a limit of 0 nothing is ever taken out of service; a session that is in is
    never touched; no timer runs unless a backend is out of service. Belongs to the pool's
    thread.
    """

    def __init__(
        self, limit: int, clock: Clock, outlet: Outlet, turn_away: Callable[[], None]
    ) -> None:
        """Begin with all backends in service.

        Args:
            limit: After so many failing sessions in a row a backend is taken out.
            clock: The time.
            outlet: Takes the timers.
            turn_away: Sends away who waits.
        """
        self._breakers = {name: _Breaker(name, BreakerChart(limit)) for name in STAGES if limit}
        self._clock = clock
        self._outlet = outlet
        self._turn_away = turn_away
        self._serial = 0

    @property
    def failing(self) -> tuple[str, ...]:
        """The backends because of which nobody may come in, by stage."""
        return tuple(b.stage for b in self._breakers.values() if b.chart.state_name in _OUT)

    @property
    def retry_s(self) -> float:
        """When it is worth while to come back, in whole seconds."""
        ends_s = (b.ends_s for b in self._breakers.values() if b.timer is not None)
        return max(1.0, math.ceil(max(ends_s, default=0.0) - self._clock.monotonic_s()))

    def hear(self, message: StageFailed | StageWorked) -> None:
        """A stage tells of its backend."""
        breaker = self._breakers.get(message.stage)
        if breaker is None:
            return
        if isinstance(message, StageWorked):
            self._fire(breaker, "worked")
        elif not message.blames_request:
            self._fire(breaker, "failed", session=message.lease.session_id)

    def entered(self, session_id: str) -> None:
        """Somebody came in, who will show whether the backends work."""
        for breaker in self._breakers.values():
            self._fire(breaker, "admit", session=session_id)

    def left(self, session_id: str) -> None:
        """And is gone again."""
        for breaker in self._breakers.values():
            self._fire(breaker, "left", session=session_id)

    def time_over(self, serial: int) -> None:
        """A deadline has come."""
        for breaker in self._breakers.values():
            if breaker.timer is not None and breaker.serial == serial:
                breaker.timer = None
                self._fire(breaker, "time_over")

    def _fire(self, breaker: _Breaker, event: str, **data: str) -> None:
        before = breaker.chart.state_name
        try:
            effects = breaker.chart.fire(event, **data)
        except BreakerChart.TransitionNotAllowed:
            # Most of what happens is no news to a breaker that is closed.
            return
        if before != breaker.chart.state_name:
            logger.warning("the %s backend: %s, %s", breaker.stage, event, breaker.chart.state_name)
        for effect in effects:
            self._carry_out(breaker, effect)

    def _carry_out(self, breaker: _Breaker, effect: Effect) -> None:
        match effect:
            case chart.ArmBackOff(doublings=doublings):
                self._arm(breaker, min(FIRST_BACK_OFF_S * 2.0**doublings, LONGEST_BACK_OFF_S))
            case chart.ArmProbeDeadline():
                self._arm(breaker, PROBE_S)
            case chart.DisarmDeadline():
                breaker.disarm()
            case chart.TurnAway():
                self._turn_away()
            case _:
                raise NotImplementedError(effect)

    def _arm(self, breaker: _Breaker, delay_s: float) -> None:
        breaker.disarm()
        self._serial = breaker.serial = self._serial + 1
        fired = TimerFired(None, BREAKER_TIMER, self._serial)
        breaker.timer = self._clock.tell_later(delay_s, self._outlet, fired)
        breaker.ends_s = self._clock.monotonic_s() + delay_s


@dataclass(slots=True)
class _Breaker:
    """A chart and its deadline."""

    stage: str
    chart: BreakerChart
    serial: int = 0
    ends_s: float = 0.0
    timer: Timer | None = None

    def disarm(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
