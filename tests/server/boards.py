"""A board that says what a test wants."""

from __future__ import annotations

from s2s_actors.actors.board import Board, PoolSnapshot, UnitSnapshot, UsageTotals
from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.runtime.clock import ManualClock

SERVING = PoolSnapshot(
    server_state="serving", queue_length=0, queue_limit=0, sessions_total=0, refused_total=0
)


def no_load() -> Health:
    """The health of a process that does nothing, at a time that stands still."""
    return Health(ManualClock(), HealthLimits())


class FixedBoard(Board):
    """Publishes fixed snapshots."""

    def __init__(self, *units: UnitSnapshot, pool: PoolSnapshot = SERVING) -> None:
        super().__init__()
        self.fixed_units = units or (unit(0),)
        self.fixed_pool = pool

    def units(self) -> tuple[UnitSnapshot, ...]:
        return self.fixed_units

    def pool(self) -> PoolSnapshot:
        return self.fixed_pool

    def usage(self) -> UsageTotals:
        return UsageTotals(
            sessions=1,
            responses=2,
            input_tokens=3,
            output_tokens=4,
            audio_input_ms=5,
            audio_output_ms=6,
        )


def unit(index: int, state: str = "idle", session_id: str | None = None) -> UnitSnapshot:
    return UnitSnapshot(
        index=index,
        state=state,
        session_id=session_id,
        since=1.0,
        claimed_at=None,
        released_at=None,
        restarts=0,
        epoch=0,
    )
