"""Which unit serves which session: the bookkeeping of the pool, and nothing else."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from s2s_actors.actors.lease import Lease

if TYPE_CHECKING:
    from collections.abc import Iterable


class Allocation:
    """Idle units, and the leases on the others.

    Promises: a unit is idle or held, never both and never neither; it comes back only by
    the lease that holds it, so a late or doubled release changes nothing. A unit under repair
    is held too, by a lease of no session.
    """

    def __init__(self, units: Iterable[int]) -> None:
        self._idle = deque(units)
        self._held: dict[int, Lease] = {}

    @property
    def has_idle(self) -> bool:
        """Whether a claim would succeed."""
        return bool(self._idle)

    @property
    def idle(self) -> tuple[int, ...]:
        """Units that a claim could get, the next one first."""
        return tuple(self._idle)

    @property
    def leases(self) -> tuple[Lease, ...]:
        """All leases that are out."""
        return tuple(self._held.values())

    @property
    def sessions(self) -> int:
        """How many units serve a session."""
        return sum(bool(lease.session_id) for lease in self._held.values())

    def claim(self, session_id: str) -> Lease:
        """Lease the unit that has been idle longest, so that all of them get used."""
        lease = Lease.issue(self._idle.popleft(), session_id)
        self._held[lease.unit] = lease
        return lease

    def withdraw(self, unit: int) -> Lease:
        """Take a unit out of service, idle or held; a lease that held it counts no longer."""
        if unit not in self._held:
            self._idle.remove(unit)
        lease = self._held[unit] = Lease.issue(unit, "")
        return lease

    def holder(self, unit: int) -> Lease | None:
        """The lease on a unit."""
        return self._held.get(unit)

    def give_back(self, lease: Lease) -> bool:
        """Make a unit claimable again; False if this lease does not hold it."""
        if self._held.get(lease.unit) != lease:
            return False
        del self._held[lease.unit]
        self._idle.append(lease.unit)
        return True
