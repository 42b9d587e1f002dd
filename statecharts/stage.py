"""Life cycle of one stage inside a unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statemachine import State

from statecharts.base import Effect, StrictChart

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class OpenStage(Effect):
    """Make fresh per-session state."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class ResetStage(Effect):
    """Drop everything that belongs to the session."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class PassSessionEnd(Effect):
    """Hand SESSION_END to the next stage."""

    lease: Hashable


class StageChart(StrictChart):
    """Unbound, bound to one lease, working for it, and unbound again.

    Promises: a stage works only for the lease that it is bound to, resets before it passes
    SESSION_END on, and passes on every SESSION_END that it sees, also one of a lease that
    it never knew (a replacement that came in the middle of a drain).

    {statechart:rst}
    """

    unbound = State("unbound", initial=True)
    bound = State("bound")
    working = State("working")

    bind = unbound.to(bound)
    begin = bound.to(working, cond="is_own_lease")
    finish = working.to(bound, cond="is_own_lease")
    session_end = (
        bound.to(unbound, cond="is_own_lease", on="reset")
        | working.to(unbound, cond="is_own_lease", on="reset")
        | bound.to(bound, internal=True, unless="is_own_lease")
        | working.to(working, internal=True, unless="is_own_lease")
        | unbound.to(unbound, internal=True)
    )

    def __init__(self) -> None:
        self.lease: Hashable = None
        super().__init__()

    def is_own_lease(self, lease: Hashable) -> bool:
        """Whether an event speaks of the session that the stage is bound to."""
        return lease == self.lease

    def on_bind(self, lease: Hashable) -> None:
        """Take the lease and start from nothing."""
        self.lease = lease
        self.emit(OpenStage(lease))

    def reset(self) -> None:
        """Drop the session before anyone can learn that the stage is clean."""
        lease, self.lease = self.lease, None
        self.emit(ResetStage(lease))

    def after_session_end(self, lease: Hashable) -> None:
        """The marker always goes on: it must never be lost."""
        self.emit(PassSessionEnd(lease))
