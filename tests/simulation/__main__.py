"""Plays all campaigns: ``make simulate SEEDS=… JOBS=…``."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from tests.simulation.callers import CAMPAIGNS
from tests.simulation.campaign import Tally
from tests.simulation.runs import play_seeds

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Play, and print each failure, in the order of the seeds, and how much was played.

    Args:
        arguments: How many seeds, and in how many processes; by default one for each core.

    Returns:
        The exit status: 1 if anything failed.
    """
    seeds = range(int(arguments[0]))
    processes = int(arguments[1]) if len(arguments) > 1 else os.cpu_count() or 1
    failed = 0
    for name in CAMPAIGNS:
        tally, began_s = Tally(), time.perf_counter()
        for played in play_seeds(name, seeds, processes):
            tally += played.tally
            if played.failure is not None:
                failed += 1
                _tell(f"{name}: seed {played.seed} failed\n{played.failure}")
        took_s = time.perf_counter() - began_s
        _tell(f"{name}: {tally}; all in {took_s:.1f} s, {processes} at a time")
    return 1 if failed else 0


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
