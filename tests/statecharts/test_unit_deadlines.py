"""Whatever a unit waits for, it does not wait for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES, LEASES, exploration
from statecharts.explore import explore
from statecharts.unit import ArmClaimDeadline, ArmDrainDeadline, DisarmDeadline, UnitChart
from tests.statecharts.paths import must_hold

if TYPE_CHECKING:
    from statecharts.base import Effect
    from statecharts.walk import Configuration, Memory, Stimulus

SEEN = exploration("unit")


def deadline(memory: Memory, _: Stimulus, effects: tuple[Effect, ...]) -> Memory:
    """The deadline that runs: a unit has one at most, and arming replaces it."""
    for effect in effects:
        match effect:
            case ArmClaimDeadline(lease=lease):
                memory = ("claim", lease)
            case ArmDrainDeadline(lease=lease):
                memory = ("drain", lease)
            case DisarmDeadline():
                memory = ()
            case _:
                pass
    return memory


def test_every_wait_for_somebody_else_is_bounded_by_a_deadline() -> None:
    seen = explore(UnitChart, ENTRIES["unit"].stimuli, watch=deadline)
    waits = {"claimed": "claim", "draining": "drain"}

    def bounded(state: Configuration) -> bool:
        if state.name == "quarantined":
            return True  # the drain deadline has fired: what is left of it means nothing
        wait = waits.get(state.name)
        return state.memory == ((wait, dict(state.data)["lease"]) if wait else ())

    must_hold(seen.counter_state(bounded))


@pytest.mark.parametrize("lease", LEASES)
def test_a_deadline_can_do_its_work_wherever_it_was_armed(lease: str) -> None:
    fires = {ArmClaimDeadline(lease): "end_session", ArmDrainDeadline(lease): "drain_timeout"}
    taken = {(e.source, e.stimulus.event, dict(e.stimulus.arguments)["lease"]) for e in SEEN.edges}
    for edge in SEEN.edges:
        for effect, event in fires.items():
            assert effect not in edge.effects or (edge.target, event, lease) in taken
