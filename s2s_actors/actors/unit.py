"""A unit as an actor: it owns the life cycle of one pipeline and supervises its stages."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_actors.actors import messages as m
from s2s_actors.actors.board import UnitSnapshot
from s2s_actors.actors.held_session import HeldSession
from s2s_actors.actors.ports import Granted
from s2s_actors.runtime.actor import Actor
from s2s_actors.runtime.supervision import Crashed, RestartIntensity, TooManyRestartsError
from statecharts import unit as chart
from statecharts.unit import UnitChart

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.pipeline import Pipeline
    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.runtime.clock import Timer
    from s2s_actors.runtime.outlet import Outlet
    from statecharts.base import Effect

logger = logging.getLogger(__name__)

CLOSE_INTERNAL_ERROR = 1011
RETRY_REPLACE_S = 1.0


@dataclass(frozen=True, slots=True)
class UnitTimings:
    """How long a unit waits, and how often it repairs itself.

    Attributes:
        claim_timeout_s: For the first event of a client.
        drain_timeout_s: For SESSION_END to come out of the last stage.
        max_restarts: Stages replaced within ``restart_window_s`` before the session is given up,
            or, without one, the unit.
    """

    claim_timeout_s: float = 120.0
    drain_timeout_s: float = 5.0
    max_restarts: int = 3
    restart_window_s: float = 60.0


class UnitActor(Actor):
    """The only owner of its chart: everything that moves the unit arrives in its mailbox.

    Promises: a client that holds the unit is told how its session ended, if it did not end it
    itself; the unit is offered again only when SESSION_END has come through, or when the
    stages that held it up have been replaced.
    """

    def __init__(
        self,
        index: int,
        pipeline: Pipeline,
        pool: Outlet,
        around: Surroundings,
        timings: UnitTimings,
    ) -> None:
        super().__init__(f"unit-{index}", supervisor=pool)
        self._index = index
        self._pipeline = pipeline
        self._pool = pool
        self._around = around
        self._timings = timings
        self._chart = UnitChart()
        self._session: HeldSession | None = None
        # What breaks without a session is nobody's doing but the unit's own.
        self._repairs = RestartIntensity(timings.max_restarts, timings.restart_window_s)
        self._deadline: tuple[int, Timer] | None = None
        self._serial = 0
        now_s, before = around.clock.wall_s(), around.board.unit(index)
        # This actor may take the place of one that crashed: its figures go on.
        self._show(UnitSnapshot.first(index, now_s) if before is None else before.rebuilt(now_s))

    def started(self) -> None:
        """Bring the pipeline up."""
        self._pipeline.start(self.outlet)

    def stopped(self) -> None:
        """Take the pipeline down, and cut off what it works on."""
        self._disarm()
        if self._session is not None:
            self._session.scope.cancel()
        self._pipeline.stop()

    def crashed(self) -> None:
        """Take the pipeline down too: the pool builds a whole unit in this place."""
        self.stopped()

    def handle(self, message: Any) -> None:  # noqa: C901 - one line for each message
        """Feed the chart, then do what it asks for."""
        match message:
            case m.ClaimUnit():
                self._claim(message)
            case m.SessionStarted(lease=lease):
                self._move("start", lease)
            case m.EndSession():
                self._end_session(message)
            case m.StagePassed():
                if self._session is not None and message.lease == self._session.lease:
                    self._session.passed.add(message.stage)
            case m.StageWorked() | m.StageFailed():
                if self._session is not None and message.lease == self._session.lease:
                    self._pool.put(message)
            case m.SessionEnd(lease=lease):
                self._move("drained", lease)
            case m.TimerFired():
                self._timer(message)
            case Crashed():
                self._stage_crashed(message)
            case _:
                raise TypeError(message)

    # --- events -----------------------------------------------------------------------

    def _claim(self, message: m.ClaimUnit) -> None:
        if not self._chart.idle.is_active:
            logger.error("%s was claimed in %s", self.name, self._chart.state_name)
            return
        timings = self._timings
        intensity = RestartIntensity(timings.max_restarts, timings.restart_window_s)
        self._session = HeldSession(message.lease, message.client, message.wish, intensity)
        self._move("claim", message.lease)
        granted = Granted(message.lease, self._pipeline.head, self.outlet)
        if not message.reply.send(granted):
            # The client left while it waited: nobody else will end this session.
            self._move("end_session", message.lease)

    def _end_session(self, message: m.EndSession) -> None:
        session = self._session
        if session is None or message.lease != session.lease:
            return
        if not (self._chart.claimed.is_active or self._chart.active.is_active):
            return  # it is ending already, and the client knows why
        logger.info("%s: session %s ends: %s", self.name, session.lease.session_id, message.reason)
        if message.close_code is not None:
            session.hang_up(message.close_code, message.reason, message.error_code)
        self._move("end_session", message.lease)

    def _timer(self, message: m.TimerFired) -> None:
        if self._deadline is None or self._deadline[0] != message.serial:
            return
        # Serials begin anew with each actor: only the lease tells the sessions apart.
        if self._session is None or message.lease != self._session.lease:
            return
        self._deadline = None
        match message.name:
            case "claim":
                self._end_session(
                    m.EndSession(
                        message.lease,
                        f"no event within {self._timings.claim_timeout_s:g} s",
                        close_code=1008,
                        error_code="session_start_timeout",
                    )
                )
            case "drain":
                self._blame(self._session)
                self._move("drain_timeout", message.lease)
            case _:
                self._move("retry_replace", message.lease)

    def _blame(self, session: HeldSession) -> None:
        """Report the stage that holds a drain up: the first one that has not passed it on."""
        stage = next((name for name in self._pipeline.stages if name not in session.passed), None)
        if stage is not None:
            self._pool.put(m.StageFailed(session.lease, stage, "wedged"))

    def _stage_crashed(self, message: Crashed) -> None:
        stage = self._pipeline.stage_of(message.actor_urn)
        if stage is None:
            return
        self._show(self._shown.repaired())
        self._around.board.tally.stage_replaced(stage)
        now_s = self._around.clock.monotonic_s()
        if self._session is None or self._chart.quarantined.is_active:
            if not self._repairs.allow(now_s):
                raise TooManyRestartsError(f"{self.name}: the {stage} stage fails again and again")
            self._pipeline.replace(stage)
            return
        lease = self._session.lease
        self._pool.put(m.StageFailed(lease, stage, "crashed"))
        within_bounds = self._session.intensity.allow(now_s)
        self._move("stage_crashed", lease, stage=stage)
        if stage == "conversation" or not within_bounds:
            self._end_session(
                m.EndSession(
                    lease,
                    f"the {stage} stage failed",
                    close_code=CLOSE_INTERNAL_ERROR,
                    error_code="internal_error",
                )
            )

    # --- the chart ----------------------------------------------------------------------

    def _move(self, event: str, lease: Lease, **data: str) -> bool:
        try:
            effects = self._chart.fire(event, lease=lease, **data)
        except UnitChart.TransitionNotAllowed:
            # Late and doubled events are part of life: a drain may report twice.
            logger.debug("%s refused %s in %s", self.name, event, self._chart.state_name)
            return False
        # Published first: whoever acts on an effect may look at the board.
        self._publish()
        for effect in effects:
            self._carry_out(effect)
        return True

    def _carry_out(self, effect: Effect) -> None:  # noqa: C901 - one line for each effect
        session = self._session
        assert session is not None
        match effect:
            case chart.BindStages():
                self._pipeline.bind(session.lease, session.scope, session.client, session.wish)
            case chart.ArmClaimDeadline():
                self._arm("claim", self._timings.claim_timeout_s)
            case chart.ArmDrainDeadline():
                self._arm("drain", self._timings.drain_timeout_s)
            case chart.DisarmDeadline():
                self._disarm()
            case chart.Fence():
                session.scope.cancel()
            case chart.SendSessionEnd():
                self._pipeline.head.put(m.SessionEnd(session.lease))
            case chart.ReplaceStage(stage=stage):
                self._replace_crashed(session, stage)
            case chart.ReplaceStages():
                self._replace_unresponsive(session)
            case chart.ReturnToPool():
                self._return_to_pool(session)
            case _:
                raise NotImplementedError(effect)

    def _replace_crashed(self, session: HeldSession, stage: str) -> None:
        draining = self._chart.draining.is_active
        self._pipeline.replace(stage)
        if stage != "conversation" and not draining:
            self._pipeline.rebind(stage, session.lease, session.scope)
            self._pipeline.head.put(m.StageReplaced(session.lease, stage))

    def _replace_unresponsive(self, session: HeldSession) -> None:
        stuck = [name for name in self._pipeline.stages if name not in session.passed]
        logger.warning("%s did not drain in time; replacing %s", self.name, ", ".join(stuck))
        try:
            for stage in stuck:
                self._pipeline.replace(stage)
                self._show(self._shown.repaired())
                self._around.board.tally.stage_replaced(stage)
                session.passed.add(stage)
        except RuntimeError:
            logger.exception("%s could not be repaired; trying again", self.name)
            self._arm("retry", RETRY_REPLACE_S)
            return
        self._move("replaced", session.lease)

    def _return_to_pool(self, session: HeldSession) -> None:
        self._session = None
        self._pool.put(m.UnitIdle(self._index, session.lease))

    # --- deadlines and snapshots ----------------------------------------------------------

    def _arm(self, name: str, delay_s: float) -> None:
        assert self._session is not None
        self._disarm()
        self._serial += 1
        fired = m.TimerFired(self._session.lease, name, self._serial)
        self._deadline = (self._serial, self._around.clock.tell_later(delay_s, self.outlet, fired))

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline[1].cancel()
            self._deadline = None

    def _publish(self) -> None:
        lease = None if self._session is None else self._session.lease
        now_s = self._around.clock.wall_s()
        self._show(self._shown.moved_to(self._chart.state_name, lease, now_s))

    def _show(self, snapshot: UnitSnapshot) -> None:
        self._shown = snapshot
        self._around.board.publish_unit(snapshot)
