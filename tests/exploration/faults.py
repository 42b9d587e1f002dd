"""Which accidents can happen to a world where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.actors import messages as m
from tests.exploration.fingerprint import waiting_in
from tests.exploration.moves import Move
from tests.exploration.stale import HARMLESS_TWICE, late_messages
from tests.exploration.wired_client import WiredClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.actor import Actor
    from s2s_actors.simulation.client import Client
    from tests.exploration.world import World

_MODEL_WORK: Final = (m.Transcribe, m.Generate, m.Speak)


def faults_in(world: World) -> Iterator[Move]:
    """Everything that may go wrong now, or come from outside.

    An actor that has nothing to do is left alone: what befalls it can as well befall it when
    it has.
    """
    for actor in world.ready:
        yield from _faults_of(world, actor)
    for lease in world.over:
        yield from (Move("late", *at) for at in late_messages(lease) if world.live(at[0]))
    for name in sorted(world.claimed):
        client = world.clients[name]
        if isinstance(client, WiredClient):
            yield from _on_the_wire(client, name)
        else:
            yield from _ways_to_go(client, name)
    if world.stopping is None:
        yield Move("shutdown")
    if not world.forced:
        yield Move("force")
    if world.plant.clock.pending:
        yield Move("time")


def _faults_of(world: World, actor: Actor) -> Iterator[Move]:
    name = actor.name
    # The pool is the process; and who has not begun yet has nothing that could be lost.
    if name == "pool" or world.is_born(actor):
        return
    yield Move("crash", name)
    head, *_ = waiting_in(actor)
    if isinstance(head, HARMLESS_TWICE):
        yield Move("double", name)
    if name.startswith("unit"):
        return
    yield Move("wedge", name)
    if isinstance(head, _MODEL_WORK) and not head.cancel.cancelled:
        yield Move("fail", name)
        yield Move("burst", name)
        if world.hanging is None:
            yield Move("hang", name)


def _on_the_wire(client: WiredClient, name: str) -> Iterator[Move]:
    peer = client.peer
    if peer.gone:
        return
    if not (peer.is_parting or peer.frozen):
        yield Move("leave", name)
        yield Move("rubbish", name)
    yield Move("vanish", name)
    yield Move("cut", name)
    yield Move("thaw" if peer.frozen else "freeze", name)


def _ways_to_go(client: Client, name: str) -> Iterator[Move]:
    if client.left:
        return
    yield Move("leave", name)
    if not client.reply.future.done():
        yield Move("vanish", name)
