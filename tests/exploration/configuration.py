"""Where a whole world stands, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.runtime.actor import ActorOutlet
from tests.exploration.fingerprint import (
    Digest,
    Piece,
    actor_piece,
    piece_of,
    shared_piece,
    waiting_in,
)
from tests.exploration.kinds import OF_THE_LOOP
from tests.exploration.naming import place_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from s2s_actors.runtime.actor import Actor
    from s2s_actors.runtime.clock import _Entry
    from tests.exploration.world import World


class Configurations:
    """Reads the configuration of one world, again and again.

    Promises: two configurations have the same value only if the same can follow from both. Only
    what may have changed since is read anew: an actor is changed by nobody but itself.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._actors: dict[str, tuple[int, Piece]] = {}
        self._messages: dict[int, tuple[object, Piece]] = {}
        self._of_the_loop: dict[int, tuple[object, Piece]] = {}
        self._loop_was: object = None

    def read(self, remembered: Hashable) -> bytes:
        """The value of the configuration by now.

        Args:
            remembered: What else makes a difference: what somebody knows of the way so far.
        """
        world, digest = self._world, Digest()
        for actor in sorted(world.plant.live, key=place_of):
            urn = actor.actor_urn
            facts = f"{actor.name} {world.is_born(actor)} {urn in world.wedged}"
            digest.add(Piece(facts.encode(), (urn,)))
            digest.add(self._actor(actor))
            for message in waiting_in(actor):
                digest.add(self._message(message))
        for entry in self._timers():
            digest.add(piece_of((entry.due_s, entry.outlet, entry.message)))
        digest.add(piece_of(self._circumstances()))
        digest.add(piece_of(world.beside))
        digest.add(piece_of(remembered))
        if (loop_is := world.loop_version) != self._loop_was:
            self._of_the_loop.clear()
            self._loop_was = loop_is
        return digest.value(self._shared)

    def _timers(self) -> list[_Entry]:
        """What the clock will deliver; who is told first at one time matters to nobody else."""
        names = {actor.actor_urn: actor.name for actor in self._world.plant.live}

        def receiver(entry: _Entry) -> str:
            outlet = entry.outlet
            return names.get(outlet.ref.actor_urn, "") if isinstance(outlet, ActorOutlet) else ""

        entries = sorted(self._world.plant.clock._entries)
        return sorted(entries, key=lambda entry: (entry.due_s, receiver(entry)))

    def _circumstances(self) -> list[object]:
        world, call = self._world, self._world.hanging
        clients = [(n, n in world.claimed, world.clients[n]) for n in sorted(world.clients)]
        return [
            world.deed,
            # Where in its call it hangs follows from what it was told.
            None if call is None else (call.actor, call.actor.is_over, call.message),
            clients,
            world.stopping and world.stopping.future,
            (world.hung, world.time_passed, world.forced, world.plant.clock.monotonic_s()),
        ]

    def _shared(self, thing: object) -> Piece:
        if not isinstance(thing, OF_THE_LOOP):
            return shared_piece(thing)
        known = self._of_the_loop.get(id(thing))
        if known is None:
            known = self._of_the_loop[id(thing)] = (thing, shared_piece(thing))
        return known[1]

    def _actor(self, actor: Actor) -> Piece:
        turns = self._world.turns[actor.actor_urn]
        known = self._actors.get(actor.actor_urn)
        if known is None or known[0] != turns:
            known = self._actors[actor.actor_urn] = (turns, actor_piece(actor))
        return known[1]

    def _message(self, message: object) -> Piece:
        # Kept together with its message: no other one can come to the same address.
        known = self._messages.get(id(message))
        if known is None:
            known = self._messages[id(message)] = (message, piece_of(message))
        return known[1]
