"""Explores with ever larger budgets, until so many steps are gone: ``make explore STEPS=…``.

``SCENARIOS="connected one-too-many"`` explores only those.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.exploration.moves import BrokenPromise
from tests.exploration.scenarios import SCENARIOS
from tests.exploration.search import Budget, explore

if TYPE_CHECKING:
    from collections.abc import Sequence

_BUDGETS = [
    Budget(faults, turns) for faults, turns in ((0, 1), (1, 0), (0, 2), (1, 1), (2, 0), (2, 1))
]

_HEADSTART = 4
"""How many shares one exploration may take: of the first ones, which can be completed, most need
less than one."""


def main(arguments: Sequence[str]) -> int:
    """Explore, and print what was covered, or the way to what is broken.

    Args:
        arguments: The number of steps, about 1000 to 4000 a second; and the scenarios, all if
            none is named.

    Returns:
        The exit status: 1 if a promise was broken.
    """
    left = int(arguments[0])
    scenarios = arguments[1:] or list(SCENARIOS)
    for number, budget in enumerate(_BUDGETS):
        rest = (len(_BUDGETS) - number) * len(scenarios)
        for at, scenario in enumerate(scenarios):
            fair = left // (rest - at)
            share = min(_HEADSTART * fair, max(fair, left // 2))
            try:
                seen = explore(scenario, replace(budget, steps=share))
            except BrokenPromise as finding:
                sys.stdout.write(f"{finding}\n")
                return 1
            left -= seen.steps
            sys.stdout.write(f"{seen}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
