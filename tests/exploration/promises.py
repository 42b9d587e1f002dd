"""What must hold after everything that happens, and in the end."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import msgspec

from s2s_actors.actors import messages as m
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.stage import StageActor
from s2s_actors.actors.unit import UnitActor
from s2s_actors.runtime.supervision import Crashed
from tests.exploration.fingerprint import waiting_in
from tests.exploration.wire_promises import connections, may_be_sent
from tests.exploration.wired_client import WiredClient

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from s2s_actors.simulation.client import Client
    from tests.exploration.world import World


class PromiseError(Exception):
    """Something does not hold."""


class Watch:
    """Looks at a world after each move.

    Promises: whatever a client was sent is looked at once; what it remembers is
    :attr:`memory`, and no more.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = dict.fromkeys(world.clients, 0)
        self._leases: dict[str, Lease] = {}
        self._open: dict[str, set[str]] = {name: set() for name in world.clients}
        self._ended: dict[str, set[str]] = {name: set() for name in world.clients}

    @property
    def memory(self) -> Hashable:
        """How many responses of each client are open, and how many have ended."""
        return tuple((len(self._open[n]), len(self._ended[n])) for n in sorted(self._open))

    def look(self) -> None:
        """Look at what the last move has done.

        Raises:
            PromiseError: Something does not hold.
        """
        for check in _AT_EACH_STEP:
            for broken in check(self._world):
                raise PromiseError(broken)
        self.follow()

    def follow(self) -> None:
        """Keep up with a move that was looked at before, on another way.

        Raises:
            PromiseError: Somebody was sent what it must not be.
        """
        for name, client in self._world.clients.items():
            self._look_at(name, client)
        held = self._world.plant.leases
        self._leases = {
            name: client.granted.lease
            for name, client in self._world.clients.items()
            if client.granted is not None and client.granted.lease in held
        }

    def all_answered(self) -> None:
        """Look whether every response of those who are still served has come to its end.

        Raises:
            PromiseError: One has not.
        """
        for name, client in self._world.clients.items():
            if name in self._leases and client.closed is None and self._world.hears(name):
                for response in self._open[name]:
                    raise PromiseError(f"{response} of {name} never ends")

    def _look_at(self, name: str, client: Client) -> None:
        if len(client.frames) == self._seen[name]:
            return
        latest = copy.copy(client)
        latest.frames = client.frames[self._seen[name] :]
        self._seen[name] = len(client.frames)
        for foreign in latest.foreign_words():
            raise PromiseError(f"{name} was sent what is not its own: {foreign}")
        granted = client.granted
        now = granted is not None and granted.lease in self._world.plant.leases
        late = isinstance(client, WiredClient) and may_be_sent(client, latest.types)
        if not (now or late or name in self._leases):
            raise PromiseError(f"{name} was sent {latest.types} without a lease")
        for frame in latest.frames:
            self._count(name, msgspec.json.decode(frame, type=_Event))

    def _count(self, name: str, event: _Event) -> None:
        open_, ended = self._open[name], self._ended[name]
        if event.type == "response.created" and event.response:
            open_.add(event.response.id)
        elif event.type == "response.done" and event.response:
            if event.response.id not in open_:
                raise PromiseError(f"a response of {name} ends twice, or without a beginning")
            open_.remove(event.response.id)
            ended.add(event.response.id)
        elif event.response_id in ended:
            raise PromiseError(f"{name} was sent {event.type} of a response that had ended")


class _Response(msgspec.Struct):
    id: str


class _Event(msgspec.Struct):
    """What matters here of a server event."""

    type: str
    response: _Response | None = None
    response_id: str | None = None


def _stages(world: World, unit: UnitActor) -> list[StageActor]:
    live = world.plant.live
    number = f"-{unit._index}"
    return [a for a in live if isinstance(a, StageActor) and a.name.endswith(number)]


def _units(world: World) -> list[UnitActor]:
    return [each for each in world.plant.live if isinstance(each, UnitActor)]


def _said(lease: object) -> str:
    # Without the epoch, which is another one whenever a way is gone again.
    return lease.session_id if isinstance(lease, Lease) else "nobody"


def _capacity(world: World) -> Iterator[str]:
    if world.plant.capacity != world.scenario.units:
        yield f"of {world.scenario.units} units the pool knows {world.plant.capacity}"


def _one_lease(world: World) -> Iterator[str]:
    held = world.plant.leases
    for unit in _units(world):
        lease = None if unit._session is None else unit._session.lease
        if lease is not None and lease not in held:
            yield f"{unit.name} serves {_said(lease)}, and the pool does not know of it"
        for stage in _stages(world, unit):
            bound = stage._chart.lease
            if bound is not None and bound != lease:
                yield f"{stage.name} serves {_said(bound)}, its unit {_said(lease)}"


def _clean_when_idle(world: World) -> Iterator[str]:
    for unit in _units(world):
        if not unit._chart.idle.is_active:
            continue
        for stage in _stages(world, unit):
            left = [w for w in waiting_in(stage) if isinstance(w, m.Bind)]
            if stage._chart.lease is not None or left:
                yield f"{unit.name} is idle, and {stage.name} is not clean"


def _marker_is_on_its_way(world: World) -> Iterator[str]:
    for unit in _units(world):
        if not unit._chart.draining.is_active or unit._session is None:
            continue
        marker = m.SessionEnd(unit._session.lease)
        waiting = [w for stage in _stages(world, unit) for w in waiting_in(stage)]
        to_unit = waiting_in(unit)
        repaired = any(isinstance(message, Crashed) for message in to_unit)
        if marker not in waiting and marker not in to_unit and not repaired:
            yield f"{unit.name} drains, and SESSION_END is lost"


def _no_deadline_needed(world: World) -> Iterator[str]:
    for unit in _units(world):
        if unit._chart.quarantined.is_active and not (world.hung or world.time_passed):
            yield f"{unit.name} is quarantined, though nothing hung"


def _waits_for_sessions(world: World) -> Iterator[str]:
    if world.plant.pool._chart.stopped.is_active and not (world.forced or world.time_passed):
        for lease in world.plant.leases:
            if lease.session_id:
                yield f"the server has stopped, and still serves {_said(lease)}"


_AT_EACH_STEP: tuple[Callable[[World], Iterator[str]], ...] = (
    _capacity,
    _one_lease,
    _clean_when_idle,
    _marker_is_on_its_way,
    _no_deadline_needed,
    _waits_for_sessions,
    connections,
)
