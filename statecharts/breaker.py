"""Whether a backend that all sessions share still works: takes it out of service while it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from statemachine import State

from statecharts.base import Effect, StrictChart

if TYPE_CHECKING:
    from collections.abc import Hashable

LAST_DOUBLING: Final = 6
"""The back-off doubles so often, and then stays as long as it is."""


@dataclass(frozen=True, slots=True)
class TurnAway(Effect):
    """Send away everyone who waits: what they wait for does not work."""


@dataclass(frozen=True, slots=True)
class ArmBackOff(Effect):
    """Leave the backend alone for a while, that has doubled so often."""

    doublings: int


@dataclass(frozen=True, slots=True)
class ArmProbeDeadline(Effect):
    """Give the session that was let in a bounded time to show anything."""


@dataclass(frozen=True, slots=True)
class DisarmDeadline(Effect):
    """What the running deadline was for has been settled."""


class BreakerChart(StrictChart):
    """Closed, opened, half open, probing, and closed again.

    Promises: what one session provokes, however often, never opens it: it takes failures in
    several sessions in a row, and none in which the backend works between them. Once open, one
    session at a time is let in, each time after a back-off that doubles with each failure. Any
    session that shows that the backend works closes it, and one that shows nothing at all keeps
    the next one out only for a bounded time. Sessions that were there before and go on failing
    don't keep out the one that may try: no failure counts until it is in.

    {statechart:rst}
    """

    closed = State("closed", initial=True)
    opened = State("opened")
    half_open = State("half_open")
    probing = State("probing")

    failed = (
        closed.to(opened, cond="is_last_straw")
        | closed.to(closed, internal=True)
        | probing.to(opened)
    )
    worked = (
        closed.to(closed, internal=True)
        | opened.to(closed)
        | half_open.to(closed)
        | probing.to(closed)
    )
    time_over = opened.to(half_open) | probing.to(half_open)
    admit = half_open.to(probing)
    left = probing.to(half_open, cond="is_probe")

    def __init__(self, limit: int = 3) -> None:
        """Begin closed.

        Args:
            limit: So many failing sessions in a row open it.
        """
        self.limit = limit
        self.failing: frozenset[Hashable] = frozenset()
        self.doublings = 0
        self.probe: Hashable = None
        super().__init__()

    def is_last_straw(self, session: Hashable) -> bool:
        """Whether enough sessions in a row have failed with this one."""
        return len(self.failing | {session}) >= self.limit

    def is_probe(self, session: Hashable) -> bool:
        """Whether this is the session that was let in."""
        return session == self.probe

    def on_failed(self, session: Hashable) -> None:
        """Remember in which sessions it failed; one counts once."""
        self.failing |= {session}

    def before_worked(self) -> None:
        """All that was held against it is forgotten."""
        self.failing = frozenset()
        self.doublings = 0
        if self.opened.is_active or self.probing.is_active:
            self.emit(DisarmDeadline())

    def on_enter_opened(self) -> None:
        """Nobody comes in until the back-off is over."""
        self.failing = frozenset()
        self.emit(ArmBackOff(self.doublings))
        self.emit(TurnAway())
        self.doublings = min(self.doublings + 1, LAST_DOUBLING)

    def on_admit(self, session: Hashable) -> None:
        """One may try."""
        self.probe = session
        self.emit(ArmProbeDeadline())

    def on_exit_probing(self) -> None:
        """It has shown what it could."""
        self.probe = None

    def on_left(self) -> None:
        """It left and has shown nothing: the next one may try."""
        self.emit(DisarmDeadline())
