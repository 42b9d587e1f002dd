"""What is counted where it happens, and only ever grows."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TURN_BOUNDS_S", "Tallies", "Tally"]

TURN_BOUNDS_S: Final = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
"""Upper ends of the steps in which waits are counted: close together where people notice the
difference (an answer within half a second feels prompt, after two it feels broken)."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """All counts at one moment.

    Attributes:
        refused: Clients that were sent away, by reason.
        responses: Responses that have ended, by status.
        stages_replaced: Stages that were replaced, by name.
        stages_failed: Failures of stages that no request is to blame for, by name.
        clients_cut: Clients that were cut off, by what they did not do.
        events_dropped: Events of clients for which there was no room.
        turns_unanswered: Turns that got no answer.
        turns_by_wait: Turns that got one, by the step of :data:`TURN_BOUNDS_S` in which their
            wait lies; the last ones waited longer than all of them.
        turns_waited_s: How long all of those waited together.
    """

    refused: Mapping[str, int]
    responses: Mapping[str, int]
    stages_replaced: Mapping[str, int]
    stages_failed: Mapping[str, int]
    clients_cut: Mapping[str, int]
    events_dropped: int
    turns_unanswered: int
    turns_by_wait: tuple[int, ...]
    turns_waited_s: float


@dataclass(slots=True)
class Tally:
    """Counts events that leave no trace in a snapshot.

    Promises: nothing is ever taken back, whoever is replaced; safe from any thread; each call
    costs a lock and an addition, and none is made for a piece of audio or text. Every name
    that is counted is one of the server's own, so there are few of them.
    """

    _refused: Counter[str] = field(default_factory=Counter)
    _responses: Counter[str] = field(default_factory=Counter)
    _stages: Counter[str] = field(default_factory=Counter)
    _failed: Counter[str] = field(default_factory=Counter)
    _cut: Counter[str] = field(default_factory=Counter)
    _dropped: int = 0
    _unanswered: int = 0
    _by_wait: list[int] = field(default_factory=lambda: [0] * (len(TURN_BOUNDS_S) + 1))
    _waited_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refused(self, reason: str) -> None:
        """A client was sent away: by a code of the protocol, or by one of the door's reasons."""
        with self._lock:
            self._refused[reason] += 1

    def client_cut(self, reason: str) -> None:
        """A connection was cut since its client did not read, or did not answer pings."""
        with self._lock:
            self._cut[reason] += 1

    def event_dropped(self) -> None:
        """There was no room for an event of a client."""
        with self._lock:
            self._dropped += 1

    def response_ended(self, status: str) -> None:
        """A response is over."""
        with self._lock:
            self._responses[status] += 1

    def stage_replaced(self, stage: str) -> None:
        """A stage of some unit failed or hung, and there is a new one in its place."""
        with self._lock:
            self._stages[stage] += 1

    def stage_failed(self, stage: str) -> None:
        """A stage of some unit failed, and no request is to blame."""
        with self._lock:
            self._failed[stage] += 1

    def turn_over(self, waited_s: float | None) -> None:
        """A turn has its answer after so long, or gets none (None)."""
        with self._lock:
            if waited_s is None:
                self._unanswered += 1
            else:
                self._by_wait[bisect_left(TURN_BOUNDS_S, waited_s)] += 1
                self._waited_s += waited_s

    def read(self) -> Tallies:
        """Everything so far, all of it of the same moment."""
        with self._lock:
            return Tallies(
                refused=dict(self._refused),
                responses=dict(self._responses),
                stages_replaced=dict(self._stages),
                stages_failed=dict(self._failed),
                clients_cut=dict(self._cut),
                events_dropped=self._dropped,
                turns_unanswered=self._unanswered,
                turns_by_wait=tuple(self._by_wait),
                turns_waited_s=self._waited_s,
            )
