"""What goes wrong in a simulation, drawn from its seed."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from s2s_actors.actors import messages as m
from s2s_actors.runtime.mailbox import Marker
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.runtime.supervision import Crashed
from s2s_actors.simulation.calls import NO_BURDEN, Burden
from s2s_actors.simulation.plant import STAGES

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from s2s_actors.actors.lease import Lease
    from s2s_actors.runtime.actor import Actor
    from s2s_actors.simulation.caller import Caller
    from s2s_actors.simulation.plant import SteppedPlant

__all__ = ["NO_FAULTS", "Faults", "Mishaps"]

REMEMBERED: Final = 400
"""Messages that may come a second time, long after the first."""
LONGEST_FREEZE_S: Final = 20.0
"""Well over the 5 s that a unit gives its stages when a session ends."""
_BEGINNINGS: Final = (m.Claim, m.ClaimUnit, m.Bind)
"""What begins a session is sent once and can't come late: its receiver waits for it."""
_TWICE: Final = (m.EndSession, m.StagePassed, m.UnitIdle, m.TimerFired, m.SessionStarted, Crashed)
"""What may reach its receiver twice."""


@dataclass(frozen=True, slots=True)
class Faults:
    """How likely things go wrong: the chance at each step, or for the last five at each call.

    Attributes:
        crash: A stage fails.
        unit_crash: A unit fails.
        freeze: A stage does nothing for a while, up to 20 s.
        gone: A caller hangs up.
        late: A message of a session that is over comes once more.
        doubled: A message of the life cycle comes twice.
        slow: A model takes up to 5 s longer.
        hang: A model heeds nothing for up to 20 s.
        bug: A model fails as a bug would.
        error: A model fails as a backend should.
    """

    crash: float = 0.0
    unit_crash: float = 0.0
    freeze: float = 0.0
    gone: float = 0.0
    late: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0
    hang: float = 0.0
    bug: float = 0.0
    error: float = 0.0

    @classmethod
    def usual(cls) -> Faults:
        """Some of everything: most sessions see something of it."""
        return cls(
            crash=0.001,
            unit_crash=0.0003,
            freeze=0.001,
            gone=0.0005,
            late=0.01,
            doubled=0.01,
            slow=0.03,
            hang=0.01,
            bug=0.01,
            error=0.02,
        )


NO_FAULTS = Faults()


class Mishaps:
    """Lets happen what the faults say.

    Args:
        faults: How likely each is.
        draw: Where chance comes from.
        plant: Whom it befalls.
        callers: Who may hang up.
        tell: Takes a line for each.
    """

    def __init__(
        self,
        faults: Faults,
        draw: random.Random,
        plant: SteppedPlant,
        callers: Sequence[Caller],
        tell: Callable[[str], None],
    ) -> None:
        self._faults = faults
        self.any = faults != NO_FAULTS
        """Whether anything may go wrong."""
        self._draw = draw
        self._plant = plant
        self._callers = callers
        self._tell = tell
        self._seen: deque[tuple[str, object, Lease]] = deque(maxlen=REMEMBERED)
        self.frozen: list[Actor] = []
        """Who is not to be stepped for now."""
        self.until_s = -math.inf
        """When the last of them thaws."""

    def forget(self) -> None:
        """Let everything go right from now on; what is frozen stays so."""
        self._faults, self.any = NO_FAULTS, False

    def burden(self) -> Burden:
        """What befalls the call of a model that begins now."""
        faults, draw = self._faults, self._draw
        if not self.any:
            return NO_BURDEN
        burden = Burden(
            slow_ms=draw.uniform(0, 5000) if self._comes(faults.slow) else 0.0,
            hang_s=draw.uniform(0, LONGEST_FREEZE_S) if self._comes(faults.hang) else 0.0,
            bug=self._comes(faults.bug),
            error=self._comes(faults.error),
        )
        if burden != NO_BURDEN:
            self._tell(f"the call will bear {burden}")
        return burden

    def before(self, actor: Actor) -> None:
        """An actor is about to take its next message: that may come again, too."""
        if not self.any or actor.actor_inbox.empty():
            return
        message = actor.actor_inbox.next_message
        lease = getattr(message, "lease", None)
        if lease is not None and not isinstance(message, _BEGINNINGS):
            self._seen.append((actor.name, message, lease))
        if _may_double(message) and self._comes(self._faults.doubled):
            self._tell(f"{actor.name} will get {type(message).__name__} twice")
            actor.outlet.put(message)

    def happen(self) -> None:
        """Between two steps, anything may go wrong."""
        faults = self._faults
        if not self.any:
            return
        if self._comes(faults.crash):
            self._crash(STAGES)
        if self._comes(faults.unit_crash):
            self._crash(("unit",))
        if self._comes(faults.freeze):
            self._freeze()
        if self._comes(faults.gone) and (there := [c for c in self._callers if c.is_in]):
            caller = self._draw.choice(there)
            self._tell(f"{caller.name} hangs up")
            caller.hang_up()
        if self._comes(faults.late):
            self._repeat_something_old()

    def _comes(self, chance: float) -> bool:
        return chance > 0 and self._draw.random() < chance

    def _some_actor(self, kinds: tuple[str, ...]) -> Actor | None:
        there = [a for a in self._plant.at_rest if a.name.partition("-")[0] in kinds]
        return self._draw.choice(there) if there else None

    def _crash(self, kinds: tuple[str, ...]) -> None:
        actor = self._some_actor(kinds)
        if actor is not None:
            self._tell(f"{actor.name} crashes")
            self._plant.crash(actor.name)

    def _freeze(self) -> None:
        actor = self._some_actor(STAGES)
        if actor is None or actor in self.frozen:
            return
        length_s = self._draw.uniform(0, LONGEST_FREEZE_S)
        self._tell(f"{actor.name} freezes for {length_s:.3f} s")
        self.frozen.append(actor)
        self.until_s = max(self.until_s, self._plant.clock.monotonic_s() + length_s)
        self._plant.clock.tell_later(length_s, _Thaw(self.frozen), actor)

    def _repeat_something_old(self) -> None:
        held = self._plant.leases
        old = [(name, message) for name, message, lease in self._seen if lease not in held]
        if not old:
            return
        name, message = self._draw.choice(old)
        for actor in self._plant.live:
            if actor.name == name:
                self._tell(f"{name} gets an old {type(message).__name__}")
                try:
                    actor.outlet.put(message)
                except LaneFullError:
                    return


def _may_double(message: object) -> bool:
    if isinstance(message, Marker) or not isinstance(message, _TWICE):
        return False
    return not isinstance(message, m.TimerFired) or message.lease is not None


class _Thaw:
    """Lets the clock end a freeze."""

    def __init__(self, frozen: list[Actor]) -> None:
        self._frozen = frozen

    def put(self, message: object) -> None:
        """The time of an actor's freeze is over."""
        self._frozen[:] = [actor for actor in self._frozen if actor is not message]
