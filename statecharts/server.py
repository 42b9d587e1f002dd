"""Life cycle of the server process."""

from __future__ import annotations

from dataclasses import dataclass

from statemachine import State

from statecharts.base import Effect, StrictChart


@dataclass(frozen=True, slots=True)
class ArmShutdownDeadline(Effect):
    """Give running sessions a bounded time to finish."""


@dataclass(frozen=True, slots=True)
class RefuseWaiting(Effect):
    """Send away everyone who waits for a unit."""


@dataclass(frozen=True, slots=True)
class EndSessions(Effect):
    """End every running session: close code 1001."""


@dataclass(frozen=True, slots=True)
class ReportStopped(Effect):
    """Tell whoever asked for the shutdown that the pool is empty."""


class ServerChart(StrictChart):
    """Starting, serving, draining, closing, stopped.

    Promises: claims are granted only while ``serving``; a server that has begun to drain
    never serves again; every running session gets its time, and no session more than that.

    {statechart:rst}
    """

    starting = State("starting", initial=True)
    serving = State("serving")
    draining = State("draining")
    closing = State("closing")
    stopped = State("stopped", final=True)

    ready = starting.to(serving)
    drain = starting.to(draining) | serving.to(draining)
    emptied = draining.to(stopped) | closing.to(stopped)
    deadline = draining.to(closing) | closing.to(stopped)
    force = draining.to(stopped) | closing.to(stopped)

    def on_enter_draining(self) -> None:
        """No new sessions; a bounded time for the others."""
        self.emit(RefuseWaiting())
        self.emit(ArmShutdownDeadline())

    def on_enter_closing(self) -> None:
        """Time is up."""
        self.emit(EndSessions())
        self.emit(ArmShutdownDeadline())

    def on_enter_stopped(self) -> None:
        """Nothing runs any more."""
        self.emit(ReportStopped())
