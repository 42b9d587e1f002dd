"""One stage of a unit with recorders around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from s2s_actors.actors.board import Board
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.messages import Bind
from s2s_actors.actors.stage import Links
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock
from tests.support.stepping import Recorder, is_idle, run_until_idle

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.stage import StageActor

T = TypeVar("T")


def around(clock: ManualClock | None = None) -> Surroundings:
    """What a stage has around it that runs by hand."""
    return Surroundings(Board(), clock or ManualClock())


class StageBench:
    """Steps one bound stage, and keeps what comes out of it."""

    def __init__(self, build: Callable[[Links], StageActor]) -> None:
        self.unit = Recorder()
        self.conversation = Recorder()
        self.onward = Recorder()
        self.actor = build(Links(self.unit, self.conversation, self.onward))
        self.lease = Lease.issue(0, "sess_bench")
        self.scope = CancelToken()
        self.put(Bind(self.lease, self.scope))

    def put(self, *messages: object) -> None:
        """Let the stage handle messages."""
        for message in messages:
            self.actor.outlet.put(message)
        run_until_idle(self.actor)

    @property
    def idle(self) -> bool:
        """Whether the stage has nothing left to handle."""
        return is_idle(self.actor)

    def said(self, kind: type[T]) -> list[T]:
        """What the conversation was told: all of it is of one type."""
        assert all(isinstance(message, kind) for message in self.conversation.messages)
        return self.conversation.of(kind)
