"""The pool as an actor: hands out units and owns the life cycle of the server."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_actors.actors import messages as m
from s2s_actors.actors.allocation import Allocation
from s2s_actors.actors.board import PoolSnapshot
from s2s_actors.actors.ports import Refused
from s2s_actors.actors.reception import CLOSE_GOING_AWAY, Reception
from s2s_actors.runtime.actor import Actor
from s2s_actors.runtime.outlet import Slot
from s2s_actors.runtime.supervision import Crashed
from statecharts import server as chart
from statecharts.server import ServerChart

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.runtime.actor import ActorOutlet
    from s2s_actors.runtime.clock import Timer
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.runtime.reply import ReplyPort

logger = logging.getLogger(__name__)

CLOSE_INTERNAL_ERROR = 1011
REBUILD_PAUSE_S = 1.0

_UNIT_FAILED = Refused("internal_error", "The unit failed.", CLOSE_INTERNAL_ERROR, 1.0)


@dataclass(frozen=True, slots=True)
class PoolRules:
    """How the pool treats clients that it has no unit for, and how it goes down.

    Attributes:
        units: How many sessions are served at a time.
        queue_limit: How many clients may wait for a unit.
        queue_timeout_s: How long each of them may wait.
        shutdown_timeout_s: How long running sessions may go on after a shutdown has begun.
        close_timeout_s: How long they may take to drain after that.
        failing_sessions: After so many in a row in which the same backend failed, new ones are
            refused until one shows that it works again; 0 for never.
    """

    units: int
    queue_limit: int = 0
    queue_timeout_s: float = 10.0
    shutdown_timeout_s: float = 30.0
    close_timeout_s: float = 10.0
    failing_sessions: int = 0


class PoolActor(Actor):
    """Claims, waiting clients, and the way down.

    Promises: never more sessions than units; the unit that has been idle longest is next;
    first come, first served; a claim is answered exactly once; a unit whose actor died is
    built anew, if need be again and again but never in haste, so capacity is never lost.
    """

    def __init__(
        self,
        rules: PoolRules,
        build_unit: Callable[[int, Outlet], ActorOutlet],
        around: Surroundings,
        supervisor: Outlet | None = None,
    ) -> None:
        super().__init__("pool", supervisor)
        self._rules = rules
        self._build_unit = build_unit
        self._around = around
        self._chart = ServerChart()
        self._allocation = Allocation(range(rules.units))
        self._units: list[Slot] = []
        self._outlets: list[ActorOutlet] = []
        self._claims: dict[int, m.Claim] = {}
        self._broken: dict[int, Lease] = {}
        self._rebuilt_s: dict[int, float] = {}
        self._reception = Reception(rules, self._allocation, around, self.outlet)
        self._stop_replies: list[ReplyPort[None]] = []
        self._deadline: Timer | None = None
        self._serial = 0
        self._sessions_total = 0

    @property
    def allocation(self) -> Allocation:
        """Who holds what; only for who runs this actor by hand."""
        return self._allocation

    def started(self) -> None:
        """Build the units."""
        for index in range(self._rules.units):
            outlet = self._build_unit(index, self.outlet)
            self._outlets.append(outlet)
            self._units.append(Slot(outlet))
        self._publish()

    def stopped(self) -> None:
        """Take the units down."""
        for outlet in self._outlets:
            outlet.stop()

    def handle(self, message: Any) -> None:  # noqa: C901 - one line for each message
        """Act, see who may come in now, then publish."""
        match message:
            case m.Claim():
                self._claim(message)
            case m.CancelClaim(session_id=session_id):
                self._reception.line.leave(session_id)
            case m.UnitIdle(lease=lease):
                self._unit_idle(lease)
            case m.StageFailed() | m.StageWorked():
                self._reception.hear(message)
            case m.ServerReady():
                self._move("ready")
                self._publish()
                message.reply.send(None)
            case m.Shutdown():
                self._shutdown(message)
            case m.TimerFired():
                self._timer(message)
            case Crashed():
                self._unit_crashed(message)
            case _:
                raise TypeError(message)
        self._let_in()
        self._publish()

    # --- claims -----------------------------------------------------------------------

    def _claim(self, claim: m.Claim) -> None:
        if self._chart.starting.is_active:
            self._reception.refuse_for_start(claim)
        elif not self._chart.serving.is_active:
            self._reception.refuse_for_shutdown(claim)
        elif self._reception.take(claim):
            self._grant(claim)

    def _let_in(self) -> None:
        """Serve who waits, as far as there are units and the machine keeps up."""
        while claim := self._reception.next():
            self._grant(claim)
        self._reception.settle()

    def _grant(self, claim: m.Claim) -> None:
        lease = self._allocation.claim(claim.session_id)
        self._claims[lease.unit] = claim
        self._reception.turnover.began(lease.unit)
        self._sessions_total += 1
        self._units[lease.unit].put(m.ClaimUnit(lease, claim.client, claim.reply, claim.wish))

    def _unit_idle(self, lease: Lease) -> None:
        if not self._allocation.give_back(lease):
            return
        self._claims.pop(lease.unit, None)
        self._reception.left(lease)
        self._report_if_empty()

    # --- the way down -------------------------------------------------------------------

    def _shutdown(self, message: m.Shutdown) -> None:
        self._stop_replies.append(message.reply)
        if self._chart.stopped.is_active:
            self._report_stopped()
            return
        if self._chart.starting.is_active or self._chart.serving.is_active:
            self._move("drain")
        if message.force and not self._chart.stopped.is_active:
            self._move("force")
        self._report_if_empty()

    def _report_if_empty(self) -> None:
        going = self._chart.draining.is_active or self._chart.closing.is_active
        if going and not self._claims:
            self._move("emptied")

    def _move(self, event: str) -> None:
        try:
            effects = self._chart.fire(event)
        except ServerChart.TransitionNotAllowed:
            logger.debug("%s refused in %s", event, self._chart.state_name)
            return
        for effect in effects:
            match effect:
                case chart.RefuseWaiting():
                    self._reception.dismiss()
                case chart.ArmShutdownDeadline():
                    self._arm_deadline()
                case chart.EndSessions():
                    self._end_sessions()
                case chart.ReportStopped():
                    self._report_stopped()
                case _:
                    raise NotImplementedError(effect)

    def _arm_deadline(self) -> None:
        closing = self._chart.closing.is_active
        delay_s = self._rules.close_timeout_s if closing else self._rules.shutdown_timeout_s
        self._serial += 1
        fired = m.TimerFired(None, "shutdown", self._serial)
        self._deadline = self._around.clock.tell_later(delay_s, self.outlet, fired)

    def _end_sessions(self) -> None:
        for lease in self._allocation.leases:
            self._units[lease.unit].put(
                m.EndSession(
                    lease,
                    "the server is shutting down",
                    close_code=CLOSE_GOING_AWAY,
                    error_code="server_shutting_down",
                )
            )

    def _report_stopped(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        for reply in self._stop_replies:
            reply.send(None)
        self._stop_replies.clear()

    # --- timers and supervision -----------------------------------------------------------

    def _timer(self, message: m.TimerFired) -> None:
        if message.name == "shutdown":
            self._move("force" if self._chart.closing.is_active else "deadline")
            return
        if message.name == "rebuild":
            self._rebuild(message.serial)
            return
        self._reception.timer(message)

    def _unit_crashed(self, message: Crashed) -> None:
        urns = [outlet.ref.actor_urn for outlet in self._outlets]
        if message.actor_urn not in urns:
            return
        index = urns.index(message.actor_urn)
        logger.error("unit %d failed and is built anew", index)
        self._broken[index] = self._allocation.withdraw(index)
        claim = self._claims.pop(index, None)
        if claim is not None:
            self._reception.breakers.left(claim.session_id)
        # A claim that the unit never came to answer is answered; a session is told of its end.
        if claim is not None and not claim.reply.send(_UNIT_FAILED):
            claim.client.close(CLOSE_INTERNAL_ERROR, "the unit failed")
        self._rebuild(index)
        self._report_if_empty()

    def _rebuild(self, index: int) -> None:
        """Fill the place of a unit that failed; in a while, if it fails again and again."""
        now_s = self._around.clock.monotonic_s()
        in_haste = now_s - self._rebuilt_s.get(index, -math.inf) < REBUILD_PAUSE_S
        fresh = None if in_haste else self._try_build(index)
        if fresh is None:
            fired = m.TimerFired(None, "rebuild", index)
            self._around.clock.tell_later(REBUILD_PAUSE_S, self.outlet, fired)
            return
        self._outlets[index] = fresh
        self._units[index].fill(fresh)
        self._unit_idle(self._broken.pop(index))

    def _try_build(self, index: int) -> ActorOutlet | None:
        self._rebuilt_s[index] = self._around.clock.monotonic_s()
        try:
            return self._build_unit(index, self.outlet)
        except RuntimeError:  # no thread to be had
            logger.exception("unit %d could not be built; trying again", index)
            return None

    def _publish(self) -> None:
        reception = self._reception
        length = len(reception.line)
        self._around.board.publish_pool(
            PoolSnapshot(
                server_state=self._chart.state_name,
                queue_length=length,
                queue_limit=self._rules.queue_limit,
                sessions_total=self._sessions_total,
                refused_total=reception.refused_total,
                refused_for_load_total=reception.refused_for_load_total,
                waited_total=reception.waited_total,
                waiting_since=reception.line.since_s,
                estimated_wait_s=reception.turnover.wait_s(length + 1),
                failing=reception.breakers.failing,
            )
        )
