"""What happens when nothing goes wrong any more: everything must come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.protocol import client_events as ce
from s2s_actors.simulation.plant import STAGES
from s2s_actors.simulation.sounds import text_item
from tests.exploration.configuration import Configurations
from tests.exploration.promises import PromiseError
from tests.exploration.wire_promises import connections_are_over

if TYPE_CHECKING:
    from tests.exploration.promises import Watch
    from tests.exploration.world import World

_MOST_STEPS: Final = 5_000
_MOST_DEADLINES: Final = 40


def settle(world: World, watch: Watch, served: set[bytes]) -> int:
    """Let everybody finish, and time pass, and see that all is as at the beginning.

    Args:
        world: Where something has gone wrong, or not; it is used up.
        watch: Goes on looking.
        served: Fingerprints of settled worlds whose units are known to serve.

    Returns:
        How many steps it took.

    Raises:
        PromiseError: Something does not come back.
    """
    taken = _finish(world, watch)
    if not world.hung:
        watch.all_answered()
    for name in world.claimed:
        if not world.is_out(name):
            world.clients[name].leave()
    taken += _rest(world, watch)
    world.time_passed = True
    for _ in range(_MOST_DEADLINES):
        if not world.plant.clock.pending:
            break
        world.let_time_pass()
        taken += _rest(world, watch)
    else:
        raise PromiseError(f"timers without an end: {world.plant.clock.pending}")
    # Only deadlines have helped so far. What hung comes back now, and must change nothing.
    _all_is_back(world)
    world.thaw()
    taken += _rest(world, watch)
    _all_is_back(world)
    if world.stopping is None and (end := Configurations(world).read(None)) not in served:
        _serve_newcomers(world)
        served.add(end)
    return taken


def _rest(world: World, watch: Watch) -> int:
    taken = 0
    while ready := world.steps:
        world.play(ready[0])
        watch.look()
        taken += 1
        if taken > _MOST_STEPS:
            raise PromiseError("the actors never come to rest")
    return taken


def _finish(world: World, watch: Watch) -> int:
    taken = _rest(world, watch)
    while deed := world.deed:
        world.play(deed)
        taken += _rest(world, watch)
    return taken


def _all_is_back(world: World) -> None:
    plant, units = world.plant, world.scenario.units
    states = [plant.state(unit) for unit in range(units)]
    if states != ["idle"] * units:
        raise PromiseError(f"the units end up {', '.join(states)}")
    if plant.leases:
        raise PromiseError(f"leases are left: {plant.leases}")
    if len(plant.live) != 1 + units * (1 + len(STAGES)):
        raise PromiseError(f"who is left: {[actor.name for actor in plant.live]}")
    for name in world.unanswered:
        raise PromiseError(f"{name} never got an answer to its claim")
    for left in connections_are_over(world):
        raise PromiseError(left)
    if world.stopping is not None and not world.stopping.future.done():
        raise PromiseError("the server never stops")


def _serve_newcomers(world: World) -> None:
    plant = world.plant
    newcomers = [plant.client(f"new-{unit}").claim() for unit in range(world.scenario.units)]
    plant.run()
    for newcomer in newcomers:
        newcomer.say(text_item("hello"), ce.ResponseCreate())
    plant.run()
    for newcomer in newcomers:
        if newcomer.status != "completed":
            raise PromiseError(f"{newcomer.session_id} is not served: {newcomer.types}")
        for foreign in newcomer.foreign_words():
            raise PromiseError(f"a newcomer was sent what is not its own: {foreign}")
        newcomer.leave()
    plant.run()
