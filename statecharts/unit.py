"""Life cycle of one unit: a full pipeline that serves one session at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statemachine import State

from statecharts.base import Effect, StrictChart

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class BindStages(Effect):
    """Bind every actor of the unit to the lease and open the session."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class ArmClaimDeadline(Effect):
    """Give the client a bounded time to send its first event."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class ArmDrainDeadline(Effect):
    """Give the stages a bounded time to pass SESSION_END on."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class DisarmDeadline(Effect):
    """What the running deadline waited for has happened."""


@dataclass(frozen=True, slots=True)
class Fence(Effect):
    """Cancel everything that works for the lease, so that nothing holds the drain up."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class SendSessionEnd(Effect):
    """Put SESSION_END at the head of the pipeline."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class ReplaceStage(Effect):
    """Put a fresh actor in the place of one that crashed; bind it to the lease."""

    lease: Hashable
    stage: str


@dataclass(frozen=True, slots=True)
class ReplaceStages(Effect):
    """Put fresh actors in the place of all that did not pass SESSION_END on."""

    lease: Hashable


@dataclass(frozen=True, slots=True)
class ReturnToPool(Effect):
    """Tell the pool that the unit can be claimed again."""

    lease: Hashable


class UnitChart(StrictChart):
    """Idle, claimed, active, draining, and back to idle.

    Promises: a unit is bound to one lease from ``claim`` until it is idle again, and no
    event that carries another lease moves it. It leaves ``draining`` only when SESSION_END
    has come out of the last stage: that, not a queue flush, is the proof that nothing of
    the old session is left. A unit that does not drain in time is ``quarantined`` until
    the marker arrives after all or the stages have been replaced, so capacity is never lost.

    {statechart:rst}
    """

    idle = State("idle", initial=True)
    claimed = State("claimed")
    active = State("active")
    draining = State("draining")
    quarantined = State("quarantined")

    claim = idle.to(claimed)
    start = claimed.to(active, cond="is_own_lease")
    end_session = claimed.to(draining, cond="is_own_lease") | active.to(
        draining, cond="is_own_lease"
    )
    drained = draining.to(idle, cond="is_own_lease") | quarantined.to(idle, cond="is_own_lease")
    drain_timeout = draining.to(quarantined, cond="is_own_lease")
    replaced = quarantined.to(idle, cond="is_own_lease")
    # A replacement that could not be built (no thread to be had) is tried again.
    retry_replace = quarantined.to(quarantined, internal=True, cond="is_own_lease")
    stage_crashed = (
        claimed.to(claimed, internal=True, cond="is_own_lease")
        | active.to(active, internal=True, cond="is_own_lease")
        | draining.to(draining, internal=True, cond="is_own_lease")
    )

    def __init__(self) -> None:
        self.lease: Hashable = None
        super().__init__()

    def is_own_lease(self, lease: Hashable) -> bool:
        """Whether an event speaks of the session that holds the unit."""
        return lease == self.lease

    def on_claim(self, lease: Hashable) -> None:
        """Bind the unit to the lease that claims it."""
        self.lease = lease

    def on_enter_claimed(self) -> None:
        """Open the session and bound the wait for its first event."""
        self.emit(BindStages(self.lease))
        self.emit(ArmClaimDeadline(self.lease))

    def on_start(self) -> None:
        """The client is really there."""
        self.emit(DisarmDeadline())

    def on_enter_draining(self) -> None:
        """Fence first: a busy stage must not hold the marker up."""
        self.emit(Fence(self.lease))
        self.emit(SendSessionEnd(self.lease))
        self.emit(ArmDrainDeadline(self.lease))

    def on_stage_crashed(self, stage: str) -> None:
        """Repair in place; while draining the marker may have died with the stage."""
        self.emit(ReplaceStage(self.lease, stage))
        if self.draining.is_active:
            self.emit(SendSessionEnd(self.lease))

    def on_enter_quarantined(self) -> None:
        """Stop waiting for stages that do not answer."""
        self.emit(ReplaceStages(self.lease))

    def on_retry_replace(self) -> None:
        """Try again to replace what does not answer."""
        self.emit(ReplaceStages(self.lease))

    def on_drained(self) -> None:
        """Forget the session and offer the unit again."""
        self._release()

    def on_replaced(self) -> None:
        """Forget the session and offer the unit again, with fresh stages."""
        self._release()

    def _release(self) -> None:
        lease, self.lease = self.lease, None
        self.emit(DisarmDeadline())
        self.emit(ReturnToPool(lease))
