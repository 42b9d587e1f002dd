"""How long to fuzz: the same short time in every run of the tests, or as long as one is told.

``FUZZ_SECONDS`` is for each test (``make fuzz SECONDS=600``).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, TypeAlias

from hypothesis import HealthCheck, Phase, given, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hypothesis.strategies import SearchStrategy

    Check: TypeAlias = Callable[[Any], None]

__all__ = ["SECONDS", "examined"]

SECONDS: Final = float(os.environ.get("FUZZ_SECONDS", "0"))
_EXAMPLES_A_ROUND: Final = 200
_SLOW: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def examined(strategy: SearchStrategy[Any], check: Check, *, examples: int) -> int:
    """Check examples of a strategy; the first that fails is shown as small as it gets.

    Args:
        strategy: What to draw.
        check: Raises ``AssertionError`` for what is wrong.
        examples: How many, unless a time is set.

    Returns:
        How many there were.
    """
    count = 0

    def counted(example: Any) -> None:
        nonlocal count
        count += 1
        check(example)

    over_s = time.monotonic() + SECONDS
    while True:
        _round(strategy, counted, _EXAMPLES_A_ROUND if SECONDS else examples)
        if time.monotonic() >= over_s:
            return count


def _round(strategy: SearchStrategy[Any], check: Check, examples: int) -> None:
    phases = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]

    @settings(
        max_examples=examples,
        derandomize=not SECONDS,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=_SLOW,
        phases=phases,
    )
    @given(strategy)
    def every(example: Any) -> None:
        check(example)

    every()
