"""What the chart tests remember of a path, and how they say that a rule is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from statecharts.base import Effect
    from statecharts.walk import Memory, Stimulus, Trace

PATHS = 200
"""More than the paths of any chart that ends; a new cycle in one is found out quickly."""


def whole_log(memory: Memory, stimulus: Stimulus, effects: tuple[Effect, ...]) -> Memory:
    """Remember every event and effect: for charts that come to an end."""
    return (*memory, stimulus.event, *effects)


def effect_log(memory: Memory, _: Stimulus, effects: tuple[Effect, ...]) -> Memory:
    """Remember every effect: for charts that come to an end, but may loop without effects."""
    return (*memory, *effects)


def must_hold(counter_example: Trace | None) -> None:
    """Fail with the shortest way that breaks the rule, if there is one."""
    if counter_example is not None:
        pytest.fail(f"broken by this way:\n{counter_example}", pytrace=False)


def names(effects: tuple[Effect, ...]) -> list[str]:
    return [type(effect).__name__ for effect in effects]
