"""Plays many seeds of a campaign, on several cores if there are any, and tells them in order."""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from tests.simulation.callers import CAMPAIGNS
from tests.simulation.campaign import Tally, check, play, simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Played", "play_seed", "play_seeds"]

SEEDS_AT_A_TIME = 8
"""Go to a process in one go: half a second of work."""


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a seed.

    Attributes:
        seed: Which one.
        digest: Of all events of all callers, in their order.
        tally: How much that was.
        failure: What went wrong, and how to have it again; None if all is well.
    """

    seed: int
    tally: Tally
    digest: str = ""
    failure: str | None = None


def play_seed(name: str, seed: int) -> Played:
    """Play one seed of the campaign of that name; nothing of it depends on other seeds."""
    began_s = time.perf_counter()
    try:
        with simulation(seed) as world:
            play(world, seed, CAMPAIGNS[name])
            check(world)
    except Exception:  # noqa: BLE001 - it is told, and the other seeds are played
        again = f"pytest tests/simulation/test_campaign.py -k {name} --s2s-seed={seed}"
        failure = f"{traceback.format_exc()}Run it again: {again}\n"
        return Played(seed, Tally(1, took_s=time.perf_counter() - began_s), failure=failure)
    tally = Tally.of(world, time.perf_counter() - began_s)
    told = [[each.side, each.event] for caller in world.callers for each in caller.log]
    return Played(seed, tally, hashlib.sha256(json.dumps(told).encode()).hexdigest())


def play_seeds(
    name: str, seeds: Iterable[int], processes: int, at_a_time: int = SEEDS_AT_A_TIME
) -> Iterator[Played]:
    """Play seeds of a campaign in so many processes; what became of them comes in their order."""
    with ProcessPoolExecutor(processes, get_context("spawn"), _prepare) as pool:
        yield from pool.map(partial(play_seed, name), seeds, chunksize=at_a_time)


def _prepare() -> None:
    """Begin a process: crashes are part of the play, and what is loaded by now stays."""
    logging.disable(logging.CRITICAL)
    gc.collect()
    gc.freeze()
