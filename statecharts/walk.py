"""The words of an exploration: what happens to a chart, and where that leaves it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from statemachine import State

from statecharts.base import Effect, StrictChart

if TYPE_CHECKING:
    from typing import Any, Self

Memory: TypeAlias = tuple[Hashable, ...]
"""What a watch remembers of the way so far."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """An event with its arguments: one thing that can happen to a chart."""

    event: str
    arguments: tuple[tuple[str, Hashable], ...] = ()

    @classmethod
    def of(cls, event: str, **arguments: Hashable) -> Self:
        """Write a stimulus the way it is sent: ``Stimulus.of("claim", lease="A")``."""
        return cls(event, tuple(arguments.items()))

    def __str__(self) -> str:
        return f"{self.event}({', '.join(f'{key}={value!r}' for key, value in self.arguments)})"

    def send_to(self, chart: StrictChart) -> None:
        """Let it happen.

        Raises:
            TransitionNotAllowed: The chart refuses it; nothing has changed.
        """
        arguments: dict[str, Any] = dict(self.arguments)
        chart.send(self.event, **arguments)


Watch: TypeAlias = Callable[[Memory, Stimulus, tuple[Effect, ...]], Memory]
"""Folds one step into a memory."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Where a chart is: its state, the data it keeps, and what a watch remembers."""

    name: str
    data: tuple[tuple[str, Hashable], ...] = ()
    memory: Memory = ()

    def __str__(self) -> str:
        shown = [f"{key}={value!r}" for key, value in self.data]
        if self.memory:
            shown.append("memory=" + ", ".join(map(str, self.memory)))
        return f"{self.name} [{', '.join(shown)}]" if shown else self.name


@dataclass(frozen=True, slots=True)
class Edge:
    """One legal step, with what the chart asks its owner to do for it."""

    source: Configuration
    stimulus: Stimulus
    target: Configuration
    effects: tuple[Effect, ...]

    def __str__(self) -> str:
        asked = f"  / {', '.join(map(str, self.effects))}" if self.effects else ""
        return f"{self.stimulus} -> {self.target}{asked}"


@dataclass(frozen=True, slots=True)
class Trace:
    """A way through a chart that can be read and replayed.

    Printed, it has one line a step: the stimulus, where it leads, and the effects.
    """

    chart: type[StrictChart]
    steps: tuple[Edge, ...]

    def __str__(self) -> str:
        start = self.steps[0].source if self.steps else observe(self.chart())
        lines = [f"{self.chart.__name__} starts {start}"]
        lines += [f"{number:3}. {step}" for number, step in enumerate(self.steps, 1)]
        return "\n".join(lines)

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """What has to happen to a new chart to go this way."""
        return tuple(step.stimulus for step in self.steps)

    def replay(self) -> StrictChart:
        """Take a new chart this way; its effects are there to be taken."""
        machine = self.chart()
        for stimulus in self.stimuli:
            stimulus.send_to(machine)
        return machine


class _Bare(StrictChart):
    """Has nothing of its own, so that what a chart adds can be told from what it inherits."""

    only = State("only", initial=True)
    stay = only.to(only, internal=True)


_INHERITED = frozenset(vars(_Bare()))


def observe(chart: StrictChart, memory: Memory = ()) -> Configuration:
    """Where the chart is now.

    Every attribute that the chart's own class sets counts as data, declared or not:
    a forgotten one would make two different configurations look alike.
    """
    own = vars(chart).keys() - _INHERITED - chart.states_map.keys()
    own -= {state.id for state in chart.states}
    data = tuple((key, vars(chart)[key]) for key in sorted(own))
    return Configuration(chart.state_name, data, memory)
