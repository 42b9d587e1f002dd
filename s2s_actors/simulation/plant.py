"""A whole process of actors, run by hand: pool, units and stages, but no threads.

The actors are those that the real wiring builds. Only their threads are missing: whoever
holds the plant decides which of the actors handles its next message, so that any schedule
can be played, and played again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import pykka

from s2s_actors.actors import messages as m
from s2s_actors.actors.board import Board
from s2s_actors.actors.conversation import ConversationRules
from s2s_actors.actors.load import Load
from s2s_actors.actors.pool import PoolActor, PoolRules
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.actors.wiring import Plant
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.hosting import hosted_by
from s2s_actors.runtime.mailbox import Control
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.simulation.client import Client
from s2s_actors.simulation.fakes import Mischief, fake_models

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import Models
    from s2s_actors.runtime.actor import Actor

__all__ = ["STAGES", "Poison", "SteppedPlant"]

CORES = 2
"""What the load is reckoned for, whatever the machine has: guesses depend on it."""

STAGES = ("conversation", "vad", "stt", "llm", "tts")


class Poison(Control):
    """A message that no actor knows: it takes down whoever handles it."""


class SteppedPlant:
    """Builds a pool, its units and their stages, and runs them message by message.

    Use it as a context manager: on exit the pool is stopped, and everything must be gone.

    Args:
        rules: How many units there are, and how the pool treats who gets none.
        timings: How long the units wait.
        models: Makes what the stages work with; without it fakes, which do :attr:`mischief`.
        conversation: What sessions begin with.
        serving: Whether the doors are open; if not, :meth:`open_doors` opens them.
    """

    def __init__(
        self,
        rules: PoolRules | None = None,
        *,
        timings: UnitTimings | None = None,
        models: Callable[[ManualClock], Models] | None = None,
        conversation: ConversationRules | None = None,
        serving: bool = True,
    ) -> None:
        self.clock = ManualClock()
        self.board = Board()
        self.mischief = Mischief()
        self.wedged: set[str] = set()
        """Names of actors that are not stepped, until they have been replaced."""
        self.threads_left = 1_000_000
        """How many more actors can be started."""
        self._serving = serving
        self._born: list[Actor] = []
        self._actors: list[Actor] = []
        self._busy: list[Actor] = []
        load = Load(CORES, self.clock.monotonic_s)
        self.plant = Plant(
            models=fake_models(self.mischief) if models is None else models(self.clock),
            around=Surroundings(self.board, self.clock, load=load),
            pool_rules=rules or PoolRules(1),
            timings=timings or UnitTimings(),
            conversation=conversation or ConversationRules("fake", "Be brief.", 3600.0),
        )

    def __enter__(self) -> Self:
        with hosted_by(self):
            self.plant.start_pool()
        (pool,) = self._actors
        assert isinstance(pool, PoolActor)
        self.pool = pool
        self.run()
        if self._serving:
            self.open_doors()
        return self

    def __exit__(self, failure: object, *rest: object) -> None:
        try:
            self.pool.outlet.stop()
            self.wedged.clear()
            self.run()
            left = [actor.name for actor in self.live]
        finally:
            for actor in self.live:  # so that only the test at fault fails
                pykka.ActorRegistry.unregister(actor.actor_ref)
        assert failure is not None or left == []

    def take_in(self, actor: Actor) -> None:
        """Be the host of an actor that was started in a step.

        Raises:
            RuntimeError: :attr:`threads_left` says that there is no thread for it.
        """
        if self.threads_left <= 0:
            raise RuntimeError("can't start new thread")
        self.threads_left -= 1
        self._born.append(actor)
        self._actors.append(actor)

    # --- who is there ---------------------------------------------------------------------

    @property
    def live(self) -> list[Actor]:
        """Actors that have not stopped, oldest first."""
        self._actors = [actor for actor in self._actors if not actor.is_over]
        return list(self._actors)

    @property
    def at_rest(self) -> list[Actor]:
        """Those of them that are not in the middle of a step."""
        return [actor for actor in self.live if actor not in self._busy]

    def actor(self, name: str) -> Actor:
        """The live actor of that name, such as ``pool``, ``unit-0`` or ``tts-0``."""
        (found,) = [actor for actor in self.live if actor.name == name]
        return found

    def state(self, unit: int = 0) -> str:
        """Where a unit is in its life cycle."""
        return self.board.units()[unit].state

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What the pool has given out."""
        return self.pool.allocation.leases

    @property
    def capacity(self) -> int:
        """Units that the pool knows of: idle ones and those on lease."""
        known = [*self.pool.allocation.idle, *(lease.unit for lease in self.leases)]
        assert len(set(known)) == len(known), "a unit is idle and held at once"
        return len(known)

    # --- running it ------------------------------------------------------------------------

    @property
    def ready(self) -> list[Actor]:
        """Actors that have something to do and may do it."""
        # Asked before each step: what most actors fail comes first.
        return [
            actor
            for actor in self.live
            if (not actor.actor_inbox.empty() or actor in self._born)
            and actor not in self._busy
            and actor.name not in self.wedged
        ]

    def step(self, actor: Actor) -> None:
        """Let one actor do the next thing, which may be to start."""
        self._busy.append(actor)
        try:
            if actor in self._born:
                self._born.remove(actor)
            with hosted_by(self):
                actor.serve()
        finally:
            self._busy.remove(actor)

    def run(self, choices: Sequence[int] = ()) -> None:
        """Step actors as chosen, and then in turn until nobody has anything left to do."""
        self.run_some(choices)
        steps = 0
        while ready := self.ready:
            for actor in ready:
                if actor in self.ready:
                    self.step(actor)
            steps += 1
            assert steps < 10_000, "the actors never come to rest"

    def run_some(self, choices: Sequence[int]) -> None:
        """Step actors as chosen, and leave the rest for later."""
        for choice in choices:
            if ready := self.ready:
                self.step(ready[choice % len(ready)])

    def advance(self, seconds: float) -> None:
        """Let time pass, in one go, and let everyone act on it."""
        self.clock.advance(seconds)
        self.run()

    # --- clients and accidents ---------------------------------------------------------------

    def open_doors(self) -> None:
        """The models are loaded."""
        self.pool.outlet.put(m.ServerReady(ReplyPort()))
        self.run()

    def client(self, name: str) -> Client:
        """Someone who wants to talk; the name is in everything that is said to them."""
        return Client(f"canary-{name}", self.pool)

    def visit(self, name: str) -> Client:
        """A client that has got its unit."""
        client = self.client(name).claim()
        self.run()
        assert client.granted is not None, client.answer
        return client

    def crash(self, name: str) -> None:
        """Take one actor down in the middle of whatever it was about to do, if it is there."""
        found = [actor for actor in self.live if actor.name == name]
        if not found:
            return
        (actor,) = found
        if actor in self._born:
            self.step(actor)
        with hosted_by(self):
            actor.on_receive(Poison())
        assert actor.actor_stopped.is_set()
