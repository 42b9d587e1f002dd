"""Model calls in virtual time: each on a stack of its own, so that it can stop in its middle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.clock import ManualClock

__all__ = ["NO_BURDEN", "Burden", "PausedCall", "VirtualCalls"]


@dataclass(frozen=True, slots=True)
class Burden:
    """What befalls a call at its first wait.

    Attributes:
        slow_ms: How much longer that takes.
        hang_s: For how long the call heeds nothing, before that.
        bug: Whether it then fails as a bug would.
        error: Whether it then fails as a backend should.
    """

    slow_ms: float = 0.0
    hang_s: float = 0.0
    bug: bool = False
    error: bool = False


NO_BURDEN = Burden()


class PausedCall:
    """A stack for one call after the other, which runs only while its driver waits for it.

    It is no thread: to hand over from one thread to another and back takes a hundred times as long.
    """

    def __init__(self) -> None:
        self.label = ""
        self.work: Callable[[], None] | None = None
        self.burden = NO_BURDEN
        self.is_awake = True
        self.until_s = -math.inf
        self.failure: BaseException | None = None
        self._driver = getcurrent()
        self._own = greenlet(self._run)

    def put(self, message: object) -> None:
        """The time of its wait is over (an outlet, for the clock)."""
        del message
        self.wake()

    def wake(self) -> None:
        """Let the driver know that it may go on."""
        self.is_awake = True

    # --- called by the driver -------------------------------------------------------------

    def drive(self) -> None:
        """Let it run until it waits or is done."""
        self._driver = getcurrent()
        self._own.switch()
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def end(self) -> None:
        """Give it up; it has nothing to do."""
        self._own.switch()

    # --- called by itself -------------------------------------------------------------------

    def wait(self) -> None:
        """Let the driver go on, until that comes back to it."""
        self._driver.switch()

    def _run(self) -> None:
        """Do what there is to do."""
        while self.work is not None:
            try:
                self.work()
            except BaseException as error:  # noqa: BLE001 - the driver has to hear of it
                self.failure = error
            self.work = None
            self.wait()


class VirtualCalls:
    """Runs the calls of models whose waits are those of a clock that is moved by hand.

    It is the :class:`~s2s_actors.backends.scripted_base.Waits` of scripted models. Promises: of
    the driver and all calls one runs at any moment, and which one is up to the driver; so the
    same choices give the same run. Used by one thread.
    """

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._idle: list[PausedCall] = []
        self._paused: list[PausedCall] = []
        self._running: PausedCall | None = None
        self._closed = False

    # --- the driver's side ----------------------------------------------------------------

    @property
    def due(self) -> list[PausedCall]:
        """Calls that may go on, the oldest first."""
        return [call for call in self._paused if call.is_awake]

    @property
    def until_s(self) -> float:
        """When the last of those that wait goes on by itself."""
        return max((call.until_s for call in self._paused), default=-math.inf)

    def begin(self, label: str, work: Callable[[], None], burden: Burden = NO_BURDEN) -> None:
        """Run some work until it waits or is done."""
        call = self._idle.pop() if self._idle else PausedCall()
        call.label, call.work, call.burden = label, work, burden
        self._drive(call)

    def resume(self, call: PausedCall) -> None:
        """Run a call that has waited until it waits again or is done."""
        self._paused.remove(call)
        self._drive(call)

    def close(self) -> None:
        """Let all calls come to their end without any wait."""
        self._closed = True
        while self._paused:
            self.resume(self._paused[0])
        for call in self._idle:
            call.end()
        self._idle.clear()

    def _drive(self, call: PausedCall) -> None:
        self._running = call
        try:
            call.drive()
        finally:
            self._running = None
            (self._idle if call.work is None else self._paused).append(call)

    # --- the calls' side --------------------------------------------------------------------

    def pause(self, cancel: CancelToken, duration_ms: float | None) -> bool:
        """Wait, None for ever; return whether the work was cancelled."""
        call = self._running
        if call is None or self._closed:
            return True
        duration_ms = self._bear(call, duration_ms)
        if cancel.cancelled or duration_ms == 0:
            return cancel.cancelled
        call.is_awake = False
        forget = cancel.on_cancel(call.wake)
        try:
            self._wait(call, duration_ms)
        finally:
            forget()
        return self._is_over(cancel)

    def _is_over(self, cancel: CancelToken) -> bool:
        return cancel.cancelled or self._closed

    def hang(self, duration_s: float) -> None:
        """Wait, and heed no cancellation."""
        call = self._running
        if call is not None and not self._closed:
            call.is_awake = False
            self._wait(call, duration_s * 1000)

    def _bear(self, call: PausedCall, duration_ms: float | None) -> float | None:
        burden, call.burden = call.burden, NO_BURDEN
        if burden.hang_s:
            self.hang(burden.hang_s)
        if burden.bug:
            raise RuntimeError("a simulated bug")
        if burden.error:
            raise StageError("simulated", "It failed, as the simulation had it.")
        return None if duration_ms is None else duration_ms + burden.slow_ms

    def _wait(self, call: PausedCall, duration_ms: float | None) -> None:
        if duration_ms is None:
            call.until_s = -math.inf
            call.wait()
            return
        timer = self._clock.tell_later(duration_ms / 1000, call, None)
        call.until_s = self._clock.monotonic_s() + duration_ms / 1000
        call.wait()
        timer.cancel()
