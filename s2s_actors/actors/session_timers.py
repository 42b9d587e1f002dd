"""The timers of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.actors.messages import TimerFired

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.clock import Clock, Timer
    from s2s_actors.runtime.outlet import Outlet


class SessionTimers:
    """Timers by name, whose owner is told by :class:`TimerFired`.

    Promises: a timer that was moved or disarmed does not count any more, even if its message
    is on the way already; none outlives the session.
    """

    def __init__(self, clock: Clock, owner: Outlet, lease: Lease, scope: CancelToken) -> None:
        self._clock = clock
        self._owner = owner
        self._lease = lease
        self._scope = scope
        self._timers: dict[str, tuple[int, Timer]] = {}
        self._serial = 0
        # An owner that is given up never lets go by itself: a timer of an hour would keep all
        # of it in memory.
        scope.on_cancel(self._cancel_all)

    def arm(self, name: str, delay_s: float) -> None:
        """Call back later; arming again moves the timer."""
        self.disarm(name)
        self._serial += 1
        fired = TimerFired(self._lease, name, self._serial)
        timer = self._clock.tell_later(delay_s, self._owner, fired)
        self._timers[name] = (self._serial, timer)
        if self._scope.cancelled:
            timer.cancel()

    def disarm(self, name: str) -> None:
        """Do not call back."""
        if name in self._timers:
            _, timer = self._timers.pop(name)
            timer.cancel()

    def take(self, message: TimerFired) -> bool:
        """Whether a timer that has come still counts."""
        serial, _ = self._timers.get(message.name, (None, None))
        if serial != message.serial:
            return False
        del self._timers[message.name]
        return True

    def _cancel_all(self) -> None:
        """In whatever thread ends the session; :meth:`arm` sees to what comes after."""
        for _, timer in list(self._timers.values()):
            timer.cancel()
