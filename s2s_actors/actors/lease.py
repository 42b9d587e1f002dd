"""Leases: the proof of who holds a unit."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

_epochs = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Lease:
    """One session's hold on one unit.

    Every message to, between and from the actors of a unit carries a lease; a stage bound to
    another lease drops the message. So nothing of one session can reach another.

    Attributes:
        unit: Index of the unit.
        session_id: The session that holds it.
        epoch: A number that never repeats in this process.
    """

    unit: int
    session_id: str
    epoch: int

    @classmethod
    def issue(cls, unit: int, session_id: str) -> Lease:
        """Make the lease of a new claim."""
        return cls(unit, session_id, next(_epochs))
