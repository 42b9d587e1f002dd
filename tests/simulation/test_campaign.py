"""Whatever goes wrong, in whatever order: every caller's events keep the invariants.

``make simulate SEEDS=1000`` plays more of it, on all cores.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from s2s_actors.simulation import Faults
from tests.simulation.campaign import AGENT, RULES, TALKING, TALLIES, WRITING, check, play

if TYPE_CHECKING:
    from s2s_actors.simulation.pytest_plugin import OpenSimulation
    from tests.simulation.campaign import Campaign


@pytest.mark.s2s_seeds(50)
def test_every_caller_is_served_by_the_protocol_and_every_unit_comes_back(
    s2s_simulation: OpenSimulation, s2s_seed: int
) -> None:
    serve(s2s_simulation, s2s_seed, TALKING)


@pytest.mark.s2s_seeds(50)
def test_every_caller_who_writes_is_served_and_every_unit_comes_back(
    s2s_simulation: OpenSimulation, s2s_seed: int
) -> None:
    serve(s2s_simulation, s2s_seed, WRITING)


def serve(open_simulation: OpenSimulation, seed: int, campaign: Campaign) -> None:
    began_s = time.perf_counter()
    with open_simulation(agent=AGENT, faults=Faults.usual(), rules=RULES) as world:
        play(world, seed, campaign)
        check(world)
    TALLIES[campaign.name].add(world, time.perf_counter() - began_s)
