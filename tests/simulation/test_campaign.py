"""Whatever goes wrong, in whatever order: every caller's events keep the invariants.

``make simulate SEEDS=1000`` plays more of it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from s2s_actors.simulation import Faults
from tests.simulation.campaign import AGENT, RULES, TALLY, check, play

if TYPE_CHECKING:
    from s2s_actors.simulation.pytest_plugin import OpenSimulation


@pytest.mark.s2s_seeds(50)
def test_every_caller_is_served_by_the_protocol_and_every_unit_comes_back(
    s2s_simulation: OpenSimulation, s2s_seed: int
) -> None:
    began_s = time.perf_counter()
    with s2s_simulation(agent=AGENT, faults=Faults.usual(), rules=RULES) as world:
        play(world, s2s_seed)
        check(world)
    TALLY.seeds += 1
    TALLY.sessions += world.plant.board.usage().sessions
    TALLY.responses += sum(caller.types.count("response.done") for caller in world.callers)
    TALLY.talk_s += world.now_s
    TALLY.took_s += time.perf_counter() - began_s
