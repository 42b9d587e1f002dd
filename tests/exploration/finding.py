"""What a search must come to that has a bug before it."""

from __future__ import annotations

import pytest

from tests.exploration.moves import BrokenPromise, Trace
from tests.exploration.search import Budget, explore, replay

__all__ = ["find_by"]


def find_by(accident: str | None, scenario: str, broken: str) -> Trace:
    """Explore until something is broken, and go there once more by what was printed.

    Args:
        accident: What may happen, once; nothing if None.
        scenario: Whom it may happen to.
        broken: What must be found.
    """
    kinds = frozenset(() if accident is None else (accident,))
    with pytest.raises(BrokenPromise, match=broken) as found:
        explore(scenario, Budget(faults=len(kinds), turns=0, kinds=kinds))
    printed = Trace.parse(str(found.value.trace))
    with pytest.raises(BrokenPromise) as again:
        replay(printed)
    assert str(again.value) == str(found.value)
    assert printed.moves == found.value.trace.moves
    return printed
