"""Where claims arrive: who comes in, who waits, and who is sent away."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from s2s_actors.actors.admission import Admission
from s2s_actors.actors.breakers import BREAKER_TIMER, Breakers
from s2s_actors.actors.failures import Failures
from s2s_actors.actors.messages import StageFailed, TimerFired
from s2s_actors.actors.ports import Refused
from s2s_actors.actors.turnover import Turnover
from s2s_actors.actors.waiting import WaitingLine

if TYPE_CHECKING:
    from s2s_actors.actors.allocation import Allocation
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.messages import Claim, StageWorked
    from s2s_actors.actors.pool import PoolRules
    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.runtime.clock import Timer
    from s2s_actors.runtime.outlet import Outlet

CLOSE_TRY_AGAIN_LATER = 1013
CLOSE_GOING_AWAY = 1001
LOOK_TIMER = "look"
_BACKENDS: Final = {
    "vad": "voice detection",
    "stt": "speech recognition",
    "llm": "language model",
    "tts": "voice",
}
"""By stage, in words for clients."""
LOOK_EVERY_S: Final = 0.5
"""How often the load is looked at while someone waits for nothing else."""
RETRY_S: Final = 1.0
"""Hint for clients that are refused, where nothing better is known."""
LONGEST_RETRY_S: Final = 60.0
"""By then an estimate is worth little; who comes back gets a fresh one."""
OVERLOAD_RETRY_S: Final = 5.0
"""The load of one moment is seen for four seconds: to come back sooner is in vain."""


class Reception:
    """Decides about claims; to lease the unit is left to the pool.

    Promises: first come, first served, also while there are idle units that nobody may have;
    a claim that came in here is answered here or handed out once; no timer runs unless someone
    waits. Belongs to the pool's thread.
    """

    def __init__(
        self, rules: PoolRules, allocation: Allocation, around: Surroundings, outlet: Outlet
    ) -> None:
        """Open with nobody waiting.

        Args:
            rules: How many may wait, and how long; and what takes a backend out of service.
            allocation: Tells which units are idle.
            around: The time, and the health of the process.
            outlet: Takes the timers.
        """
        self.breakers = Breakers(rules.failing_sessions, around.clock, outlet, self.turn_away)
        self.line = WaitingLine(rules.queue_limit, rules.queue_timeout_s, around.clock)
        self.turnover = Turnover(around.clock)
        self.refused_total = 0
        self.refused_for_load_total = 0
        self.waited_total = 0
        self._allocation = allocation
        self._admission = Admission(around.health, around.clock)
        self._clock = around.clock
        self._tally = around.board.tally
        self._failures = Failures(around.clock, around.board.tally)
        self._outlet = outlet
        self._look: Timer | None = None

    def take(self, claim: Claim) -> bool:
        """Receive a claim; True if it may have a unit now, else it waits or is refused."""
        if self.breakers.failing:
            self._refuse_for_failure(claim)
            return False
        if not self.line and self._may_enter():
            self._let_in(claim)
            return True
        if self.line.is_full:
            self._refuse_for_lack(claim)
            return False
        self.waited_total += 1
        self.line.join(claim, self._outlet)
        return False

    def next(self) -> Claim | None:
        """Who may come in now, of those who wait."""
        if not self.line or not self._may_enter():
            return None
        claim = self.line.next()
        assert claim is not None
        self._let_in(claim)
        return claim

    def settle(self) -> None:
        """After all changes: tell who waits where it stands, and be called when to look again."""
        self.line.tell(self.turnover.wait_s)
        if self._look is not None:
            self._look.cancel()
            self._look = None
        if self.line and self._allocation.has_idle:
            fired = TimerFired(None, LOOK_TIMER, 0)
            self._look = self._clock.tell_later(LOOK_EVERY_S, self._outlet, fired)

    def timer(self, fired: TimerFired) -> None:
        """Send away whose time is up, or see who may come in by now."""
        if fired.name == BREAKER_TIMER:
            self.breakers.time_over(fired.serial)
        elif fired.name != LOOK_TIMER and (claim := self.line.expire(fired.serial)):
            self._refuse_for_lack(claim)

    def hear(self, message: StageFailed | StageWorked) -> None:
        """A stage tells of its backend."""
        if isinstance(message, StageFailed):
            self._failures.note(message)
        self.breakers.hear(message)

    def left(self, lease: Lease) -> None:
        """A unit has come free."""
        self.breakers.left(lease.session_id)
        self.turnover.ended(lease.unit)

    def dismiss(self) -> None:
        """Send away everyone: the server shuts down."""
        while claim := self.line.next():
            self.refuse_for_shutdown(claim)

    def turn_away(self) -> None:
        """Send away everyone: what they wait for does not work."""
        while claim := self.line.next():
            self._refuse_for_failure(claim)

    def refuse_for_shutdown(self, claim: Claim) -> None:
        """There will be no more sessions."""
        text = "The server is shutting down."
        self.refuse(claim, Refused("server_shutting_down", text, CLOSE_GOING_AWAY))

    def refuse_for_start(self, claim: Claim) -> None:
        """There are no sessions yet."""
        text = "The models are still loading."
        self.refuse(claim, Refused("server_starting", text, CLOSE_TRY_AGAIN_LATER, RETRY_S))

    def refuse(self, claim: Claim, refused: Refused) -> None:
        """Answer a claim."""
        self.refused_total += 1
        self._tally.refused(refused.code)
        claim.reply.send(refused)

    def _may_enter(self) -> bool:
        allocation = self._allocation
        if self.breakers.failing or not allocation.has_idle:
            return False
        return self._admission.welcomes(allocation.sessions)

    def _let_in(self, claim: Claim) -> None:
        self._admission.entered()
        self.breakers.entered(claim.session_id)

    def _refuse_for_failure(self, claim: Claim) -> None:
        what = " and ".join(_BACKENDS[stage] for stage in self.breakers.failing)
        text = f"This server does not work at present: its {what} failed in several sessions."
        retry_s = self.breakers.retry_s
        self.refuse(claim, Refused("backend_failing", text, CLOSE_TRY_AGAIN_LATER, retry_s))

    def _refuse_for_lack(self, claim: Claim) -> None:
        if self.breakers.failing:
            self._refuse_for_failure(claim)
            return
        if self._allocation.has_idle:
            self.refused_for_load_total += 1
            text = "The server is too busy to serve another session in time."
            code, retry_s = "server_is_overloaded", OVERLOAD_RETRY_S
        else:
            text = "Every unit of this server is in use."
            code, retry_s = "session_limit_reached", self._retry_s()
        if self.line:
            text = f"{text} Waiting before you: {len(self.line)}."
        self.refuse(claim, Refused(code, text, CLOSE_TRY_AGAIN_LATER, retry_s))

    def _retry_s(self) -> float:
        wait_s = self.turnover.wait_s(len(self.line) + 1)
        return RETRY_S if wait_s is None else min(max(math.ceil(wait_s), RETRY_S), LONGEST_RETRY_S)
