"""Whatever goes wrong, in whatever order: every caller's events keep the invariants.

``make simulate SEEDS=1000`` plays more of it, on all cores.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from s2s_actors.simulation import Faults
from tests.simulation.callers import CAMPAIGNS
from tests.simulation.campaign import AGENT, RULES, Tally, check, play
from tests.simulation.conftest import TALLIES
from tests.simulation.runs import play_seed, play_seeds

if TYPE_CHECKING:
    from s2s_actors.simulation.pytest_plugin import OpenSimulation


@pytest.mark.parametrize("name", CAMPAIGNS)
@pytest.mark.s2s_seeds(50)
def test_every_caller_is_served_by_the_protocol_and_every_unit_comes_back(
    s2s_simulation: OpenSimulation, s2s_seed: int, name: str
) -> None:
    began_s = time.perf_counter()
    with s2s_simulation(agent=AGENT, faults=Faults.usual(), rules=RULES) as world:
        play(world, s2s_seed, CAMPAIGNS[name])
        check(world)
    TALLIES[name] += Tally.of(world, time.perf_counter() - began_s)


# --- played on several cores ----------------------------------------------------------------


def test_seeds_come_out_the_same_and_in_order_however_many_processes_play_them() -> None:
    alone = [play_seed("writing", seed) for seed in range(4)]
    together = list(play_seeds("writing", range(4), processes=2, at_a_time=1))
    assert [(each.seed, each.digest) for each in together] == [
        (each.seed, each.digest) for each in alone
    ]
    assert len({each.digest for each in alone}) == 4


def test_a_seed_that_fails_tells_how_to_have_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(world: object) -> None:
        del world
        raise AssertionError("nothing is right")

    monkeypatch.setattr("tests.simulation.runs.check", deny)
    played = play_seed("writing", 2)
    assert played.failure is not None
    for told in (
        "AssertionError: nothing is right",
        "The same again: Simulation(seed=2, units=2, ",
        "Its last steps, of ",
        "Run it again: pytest tests/simulation/test_campaign.py -k writing --s2s-seed=2\n",
    ):
        assert told in played.failure
    assert played.tally.seeds == 1
