"""Takes the times of a turn, and tells them once its answer has begun or will not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.outputs import TurnMeasured
from s2s_actors.protocol.pacing import TurnPace
from s2s_actors.protocol.waterfall import WATERFALL

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.pacing import Milestone
    from s2s_actors.protocol.waterfall import NoAnswer


class TurnClock:
    """The clock of one turn, which goes along with all that is done for it."""

    def __init__(self, desk: Desk, item_id: str, quiet_ms: float = 0) -> None:
        """Start it.

        Args:
            desk: Knows the time, and takes the result.
            item_id: The user's item.
            quiet_ms: How long the user has been silent by now.
        """
        self._desk = desk
        self._item_id = item_id
        self._pace = TurnPace(desk.now_ms - quiet_ms)

    @property
    def is_over(self) -> bool:
        """Whether the turn is answered, or will not be."""
        return self._pace.is_over

    def reached(
        self,
        milestone: Milestone,
        *,
        spoken: bool = True,
        response_id: str | UnsetType = UNSET,
    ) -> None:
        """Something is there that the user waits for, seen or not."""
        if self._pace.reached(milestone, self._desk.now_ms, spoken=spoken):
            self._tell(response_id)

    def retract(self) -> None:
        """What was drafted is of no use."""
        self._pace.retract(self._desk.now_ms)

    def give_up(self, why: NoAnswer, *, response_id: str | UnsetType = UNSET) -> None:
        """There will be no answer."""
        if self._pace.give_up(why, self._desk.now_ms):
            self._tell(response_id)

    def _tell(self, response_id: str | UnsetType) -> None:
        waterfall = self._pace.report()
        self._desk.put(TurnMeasured(waterfall))
        if WATERFALL in (self._desk.session.include or ()):
            event = ev.TurnWaterfall.of(waterfall, item_id=self._item_id, response_id=response_id)
            self._desk.send(event)
