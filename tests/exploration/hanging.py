"""A call of a model that hangs in its middle, until it is told how to go on."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING

from tests.exploration.fingerprint import waiting_in

if TYPE_CHECKING:
    from s2s_actors.backends.base import Kind
    from s2s_actors.runtime.actor import Actor
    from s2s_actors.simulation.plant import SteppedPlant


class HangingCall:
    """Lets an actor handle its next message, as far as the middle of a call of its model.

    Promises: only one thread runs at a time, the actor's or its caller's, so that the order of
    things is still the caller's choice.

    Attributes:
        actor: Who hangs.
        message: What it handles.
        is_over: Whether it has come to its end.
    """

    def __init__(self, plant: SteppedPlant, actor: Actor, kind: Kind) -> None:
        """Go to the middle of the call, or to the end, if no model is called.

        Args:
            plant: Where the actor lives.
            actor: Has a message to handle.
            kind: Of its model.
        """
        self.actor = actor
        self.message = waiting_in(actor)[0]
        self.is_over = False
        self._pauses = threading.Event()
        self._may_go_on = threading.Event()
        plant.mischief.plan(kind, self._hang)
        work = copy_context()
        self._thread = threading.Thread(
            target=work.run, args=(self._work, plant), name=f"hanging {actor.name}"
        )
        self._thread.start()
        self._pauses.wait()

    def go_on(self) -> None:
        """Let it come to its end. Idempotent."""
        self._may_go_on.set()
        self._thread.join()

    def _work(self, plant: SteppedPlant) -> None:
        try:
            plant.step(self.actor)
        finally:
            self.is_over = True
            self._pauses.set()

    def _hang(self) -> None:
        self._pauses.set()
        self._may_go_on.wait()
