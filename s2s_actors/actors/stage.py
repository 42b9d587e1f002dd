"""What all actors on the path of SESSION_END share."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from s2s_actors.actors.messages import (
    Bind,
    SessionEnd,
    StageFailed,
    StagePassed,
    StageWorked,
)
from s2s_actors.errors import StageError
from s2s_actors.runtime.actor import Actor
from statecharts.stage import OpenStage, PassSessionEnd, ResetStage, StageChart

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.load import Load, Piece
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.dispatcher import Dispatcher
    from s2s_actors.runtime.mailbox import Marker
    from s2s_actors.runtime.outlet import Outlet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Links:
    """The neighbours of a stage: places in the unit, whoever fills them.

    Attributes:
        unit: Supervises the stage and keeps the books of a drain.
        conversation: Takes the stage's results.
        onward: Takes SESSION_END.
    """

    unit: Outlet
    conversation: Outlet
    onward: Outlet


class StageActor(Actor):
    """A stage of a unit: works for the lease that it is bound to, and for no other.

    Promises: a message of another lease is dropped and counted; SESSION_END resets the stage
    and is passed on, in that order. Only this class knows the life cycle, so a new stage
    cannot forget it. Subclasses implement :meth:`open_session`, :meth:`work` and
    :meth:`reset`.
    """

    stage: ClassVar[str]
    """Which place of the pipeline the actor fills."""

    def __init__(self, name: str, links: Links, dispatcher: Dispatcher | None = None) -> None:
        """Wait for a session.

        Args:
            name: Of the actor.
            links: The neighbours.
            dispatcher: As for any actor.
        """
        super().__init__(name, links.unit, dispatcher)
        self.links = links
        self.dropped = 0
        self._chart = StageChart()

    def handle(self, message: Any) -> None:
        """Act on a message of the bound lease, or on one of the life cycle."""
        match message:
            case Bind():
                self._advance("bind", message)
            case SessionEnd():
                self._advance("session_end", message)
            case _ if message.lease == self._chart.lease:
                self.work(message)
            case _:
                self.dropped += 1
                logger.debug("%s dropped a %s of another lease", self.name, type(message).__name__)

    def _advance(self, event: str, message: Bind | SessionEnd) -> None:
        for effect in self._chart.fire(event, lease=message.lease):
            match effect:
                case OpenStage():
                    assert isinstance(message, Bind)
                    self.open_session(message)
                case ResetStage():
                    self.reset()
                case PassSessionEnd():
                    # First the books, then the marker: when it reaches the unit, the unit
                    # knows of every stage on the way.
                    self.links.unit.put(StagePassed(message.lease, self.stage))
                    self.links.onward.put(message)
                case _:
                    raise NotImplementedError(effect)

    def open_session(self, bind: Bind) -> None:
        """Make fresh state for a session."""
        raise NotImplementedError

    def work(self, message: Any) -> None:
        """Do what a message of the bound lease asks for."""
        raise NotImplementedError

    def reset(self) -> None:
        """Drop everything that belongs to the session."""
        raise NotImplementedError


class ModelStage(StageActor):
    """A stage that is busy in a model for one piece of work at a time.

    Promises: work that was cancelled while it waited is not begun; work that fails is
    reported as failed, unless it has been cancelled: then nobody wants to know; the unit hears
    of each piece of work whether the backend did it; work on this machine is counted while it
    runs.
    """

    def __init__(self, name: str, links: Links, load: Load | None = None) -> None:
        """Wait for work.

        Args:
            name: Of the thread.
            links: The neighbours.
            load: Counts the work; None if it does not run on this machine.
        """
        super().__init__(name, links)
        self._load = load
        self._counted_piece: Piece | None = None

    def open_session(self, bind: Bind) -> None:
        """Nothing of a session stays here between two pieces of work."""

    def reset(self) -> None:
        """Nothing to drop: see :meth:`open_session`."""

    def work(self, message: Any) -> None:
        """Run the model on a message, unless nobody wants the result any more."""
        cancel: CancelToken = message.cancel
        if cancel.cancelled:
            return
        lease: Lease = message.lease
        self._chart.fire("begin", lease=lease)
        try:
            with self._counted(message) as self._counted_piece:
                self.run_model(message)
        except StageError as error:
            # A model whose connection is cut by the cancellation may call that an error.
            if not cancel.cancelled:
                code, blamed = error.code, error.blames_request
                self.links.unit.put(StageFailed(lease, self.stage, code, blames_request=blamed))
                self.links.conversation.put(self.failure(message, error))
        else:
            # Work that was stopped shows nothing: the model may have hung until then.
            if not cancel.cancelled:
                self.links.unit.put(StageWorked(lease, self.stage))
        self._chart.fire("finish", lease=lease)

    def answered(self) -> None:
        """Note that the model has begun to answer: nobody waits for that any more."""
        if self._counted_piece is not None:
            self._counted_piece.is_answered = True

    def _counted(self, message: Any) -> AbstractContextManager[Piece | None]:
        if self._load is None:
            return nullcontext()
        return self._load.working(message.urgency, self.stage)

    def run_model(self, message: Any) -> None:
        """Run the model and put what comes out into ``links.conversation``.

        Raises:
            StageError: The model failed; this becomes :meth:`failure`.
        """
        raise NotImplementedError

    def failure(self, message: Any, error: StageError) -> Marker:
        """What to tell the conversation about work that failed."""
        raise NotImplementedError
