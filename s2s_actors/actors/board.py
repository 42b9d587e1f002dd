"""What the actors publish for anyone to read: never a chart, always a snapshot."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from s2s_actors.actors.tally import Tally

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.protocol.outputs import Count
    from s2s_actors.protocol.waterfall import Waterfall


@dataclass(frozen=True, slots=True)
class UnitSnapshot:
    """A unit as it was after its last transition. Times are Unix time in seconds."""

    index: int
    state: str
    session_id: str | None
    since: float
    claimed_at: float | None
    released_at: float | None
    restarts: int
    epoch: int
    rebuilds: int = 0

    @classmethod
    def first(cls, index: int, now_s: float) -> UnitSnapshot:
        """A unit that has never served anyone."""
        return cls(
            index=index,
            state="idle",
            session_id=None,
            since=now_s,
            claimed_at=None,
            released_at=None,
            restarts=0,
            epoch=0,
        )

    def moved_to(self, state: str, lease: Lease | None, now_s: float) -> UnitSnapshot:
        """After a transition, which may have led back to the same state."""
        if state == self.state:
            return self
        moved = replace(self, state=state, since=now_s)
        if state == "claimed" and lease is not None:
            return replace(moved, session_id=lease.session_id, epoch=lease.epoch, claimed_at=now_s)
        if state == "idle":
            return replace(moved, session_id=None, released_at=now_s)
        return moved

    def repaired(self) -> UnitSnapshot:
        """After the replacement of one stage."""
        return replace(self, restarts=self.restarts + 1)

    def rebuilt(self, now_s: float) -> UnitSnapshot:
        """After the replacement of all of it."""
        repaired = self.moved_to("idle", None, now_s).repaired()
        return replace(repaired, rebuilds=self.rebuilds + 1)


@dataclass(frozen=True, slots=True)
class TurnSnapshot:
    """How long the latest turn of a session waited for its answer, and why.

    Attributes:
        epoch: That of the lease of the session.
        waterfall: Its times; nothing that was said is in it.
        at: When it was over, in Unix time in seconds.
    """

    epoch: int
    waterfall: Waterfall
    at: float


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """The pool as a whole.

    Attributes:
        server_state: That of its chart.
        queue_length: Clients that wait.
        queue_limit: How many may.
        sessions_total: Sessions that got a unit.
        refused_total: Clients that were sent away.
        refused_for_load_total: Those of them for whom there was an idle unit.
        waited_total: Clients that had to wait, whatever became of them.
        waiting_since: Since when the first of the line has waited, in Unix time in seconds;
            None if nobody waits.
        estimated_wait_s: How long the next one would wait, if nothing but units is scarce;
            None before the first session has ended.
        failing: Backends, by stage, because of which nobody may come in.
    """

    server_state: str
    queue_length: int
    queue_limit: int
    sessions_total: int
    refused_total: int
    refused_for_load_total: int = 0
    waited_total: int = 0
    waiting_since: float | None = None
    estimated_wait_s: float | None = None
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """What all sessions together have cost since the process began.

    The tokens of drafts that nobody saw stand apart, as ``speculative_...``.
    """

    sessions: int = 0
    responses: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    audio_input_ms: int = 0
    audio_output_ms: int = 0
    speculative_input_tokens: int = 0
    speculative_output_tokens: int = 0


@dataclass(slots=True)
class Board:
    """One slot for each unit and one for the pool, each written by the actor that owns it.

    Readers get whole snapshots: replacing one reference is atomic. The totals and the turns
    are written by many actors and have a lock.

    Promises: a turn is shown only as long as its session holds the unit.

    Attributes:
        tally: What leaves no trace in a snapshot.
    """

    tally: Tally = field(default_factory=Tally)
    _units: list[UnitSnapshot] = field(default_factory=list)
    _turns: dict[int, TurnSnapshot] = field(default_factory=dict)
    _pool: PoolSnapshot = field(default_factory=lambda: PoolSnapshot("starting", 0, 0, 0, 0))
    _usage: UsageTotals = field(default_factory=UsageTotals)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def publish_unit(self, snapshot: UnitSnapshot) -> None:
        """Replace a unit's snapshot; the first one of the next unit makes room for it."""
        if snapshot.index == len(self._units):
            self._units.append(snapshot)
        else:
            self._units[snapshot.index] = snapshot

    def publish_pool(self, snapshot: PoolSnapshot) -> None:
        """Replace the pool's snapshot."""
        self._pool = snapshot

    def publish_turn(self, lease: Lease, waterfall: Waterfall, now_s: float) -> None:
        """Replace what is known of the latest turn of a unit.

        A conversation that was replaced while it hung may still speak up: its session is
        over, so what it says must not hide a turn of the next one.
        """
        self.tally.turn_over(waterfall.total_ms / 1000 if waterfall.answered else None)
        with self._lock:
            latest = self._turns.get(lease.unit)
            if latest is None or latest.epoch <= lease.epoch:
                self._turns[lease.unit] = TurnSnapshot(lease.epoch, waterfall, now_s)

    def count(self, count: Count) -> None:
        """Add to the totals."""
        if count.status is not None:
            self.tally.response_ended(count.status)
        with self._lock:
            total = self._usage
            self._usage = replace(
                total,
                responses=total.responses + count.responses,
                input_tokens=total.input_tokens + count.input_tokens,
                output_tokens=total.output_tokens + count.output_tokens,
                audio_input_ms=total.audio_input_ms + count.audio_input_ms,
                audio_output_ms=total.audio_output_ms + count.audio_output_ms,
                speculative_input_tokens=total.speculative_input_tokens
                + count.speculative_input_tokens,
                speculative_output_tokens=total.speculative_output_tokens
                + count.speculative_output_tokens,
            )

    def unit(self, index: int) -> UnitSnapshot | None:
        """One unit, None before its first snapshot."""
        return self._units[index] if index < len(self._units) else None

    def units(self) -> tuple[UnitSnapshot, ...]:
        """All units, by index."""
        return tuple(self._units)

    def last_turn(self, unit: UnitSnapshot) -> TurnSnapshot | None:
        """The latest turn of the session that holds a unit; None without either."""
        turn = self._turns.get(unit.index)
        if turn is None or unit.session_id is None or turn.epoch != unit.epoch:
            return None
        return turn

    def pool(self) -> PoolSnapshot:
        """The pool."""
        return self._pool

    def usage(self) -> UsageTotals:
        """The totals; ``sessions`` counts the ones that got a unit."""
        return replace(self._usage, sessions=self._pool.sessions_total)
