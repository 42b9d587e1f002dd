"""What must hold of every connection after everything that happens, and in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.actors.ports import Granted, Refused
from tests.exploration.wired_world import WiredWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.exploration.front import Witnessed
    from tests.exploration.wired_client import WiredClient
    from tests.exploration.world import World

__all__ = ["connections", "connections_are_over", "may_be_sent"]


def connections(world: World) -> Iterator[str]:
    """What is broken of any connection now."""
    if not isinstance(world, WiredWorld):
        return
    for fault in world.front.loop.faults:
        yield f"an error that nobody took: {fault}"
    for name, client in world.wired.items():
        for opcode in client.peer.wire.broken:
            yield f"{name} was sent {opcode} after the close frame"
        if client.connection is not None:
            yield from (f"{name} {broken}" for broken in _of_one(client, client.connection))
    yield from _of_the_key(world)


def _of_one(client: WiredClient, connection: Witnessed) -> Iterator[str]:
    yield from connection.failures
    back, chart = len(client.given_back), connection._chart
    is_held = chart.claiming.is_active or chart.connected.is_active
    owed = 0 if is_held or connection._refused is not None else client.claims
    if back != owed:
        yield f"is {chart.state_name} and has given back {back} times instead of {owed}"
    if connection._visit._runs and not is_held:
        yield f"is {chart.state_name} and still counts for its key"
    if client.closed is not None and client.hears_all:
        yield from _of_a_farewell(client, connection._refused)


def _of_a_farewell(client: WiredClient, refused: Refused | None) -> Iterator[str]:
    if refused is None:
        if "session.created" in client.types[1:]:
            yield f"was sent {client.types}: something came before its session"
    elif client.types != ["error"]:
        yield f"was refused, and was sent {client.types}"
    elif client.closed != refused.close_code:
        yield f"was refused, and the connection was closed with {client.closed}"


def _of_the_key(world: WiredWorld) -> Iterator[str]:
    if world.front.limits is None:
        return
    met = [each.connection for each in world.wired.values() if each.connection is not None]
    running = sum(connection._visit._runs for connection in met)
    counted = world.front.sessions_counted
    if counted != running:
        yield f"{running} sessions run, and {counted} are counted for their key"


def may_be_sent(client: WiredClient, types: list[str]) -> bool:
    """Whether a client that has no unit may be sent such events."""
    if isinstance(client.answer, Granted):
        return True  # what was on its way
    return types == ["error"]


def connections_are_over(world: World) -> Iterator[str]:
    """What is left of connections when all clients have gone and all deadlines have passed."""
    if not isinstance(world, WiredWorld):
        return
    for name, client in world.wired.items():
        yield from _of_an_end(name, client)
    loop = world.front.loop
    if loop.is_ready:
        yield "the loop never comes to rest"
    is_up = not world.front.serving.done()
    if len(loop.tasks) != is_up:
        yield f"tasks are left: {[task.work for task in loop.tasks]}"
    if world.front.sessions_counted:
        yield f"{world.front.sessions_counted} sessions are still counted for their key"


def _of_an_end(name: str, client: WiredClient) -> Iterator[str]:
    if client.connection is not None and client.state != "closed":
        yield f"the connection of {name} ends up {client.state}"
    if client.peer.upgraded and client.connection is None:
        yield f"{name} was accepted, and never served"
    if client.peer.wire.is_connected and not client.peer.wire.lost:
        yield f"the connection of {name} is still open"
