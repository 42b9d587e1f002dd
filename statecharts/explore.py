"""Walks a chart through everything that can happen to it, and remembers the way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from statemachine.exceptions import TransitionNotAllowed

from statecharts.walk import Configuration, Edge, Stimulus, Trace, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from statecharts.base import Effect, StrictChart
    from statecharts.walk import Memory, Watch

DEFAULT_BOUND = 10_000


class IncompleteExploration(RuntimeError):  # noqa: N818 - it is a state of knowledge
    """The bound was hit, so nothing can be said about *every* configuration.

    Attributes:
        bound: Number of configurations after which the exploration stopped.
    """

    def __init__(self, bound: int) -> None:
        super().__init__(f"stopped after {bound} configurations: the rest is unknown")
        self.bound = bound


@dataclass(frozen=True, slots=True)
class Exploration:
    """All that a chart can do under a set of stimuli.

    Promises: if ``complete``, then ``states``, ``edges`` and ``refused`` are all there are:
    each stimulus was tried in each configuration, and was either taken or refused. A
    question about *everything* raises ``IncompleteExploration`` if not.

    Attributes:
        chart: The chart that was explored.
        opening: What a new chart asks for before any event.
        states: Configurations, nearest to the start first; the first one is the start.
        edges: Every legal step, in the order in which it was found.
        refused: Every pair of configuration and stimulus that the chart refuses.
        complete: Whether everything was seen before the bound was hit.
        bound: The most configurations that were allowed.
    """

    chart: type[StrictChart]
    opening: tuple[Effect, ...]
    states: tuple[Configuration, ...]
    edges: tuple[Edge, ...]
    refused: tuple[tuple[Configuration, Stimulus], ...]
    complete: bool
    bound: int

    def __str__(self) -> str:
        known = "" if self.complete else f" (INCOMPLETE: stopped at {self.bound})"
        return (
            f"{self.chart.__name__}: {len(self.states)} configurations, "
            f"{len(self.edges)} edges, {len(self.refused)} refusals{known}"
        )

    def stranded(self, *names: str) -> tuple[Configuration, ...]:
        """Configurations from which no state of these names can be reached any more."""
        self._require_complete()
        good = {state for state in self.states if state.name in names}
        while more := {e.source for e in self.edges if e.target in good} - good:
            good |= more
        return tuple(state for state in self.states if state not in good)

    def can_reach(self, *names: str) -> bool:
        """Whether one of these states can be reached from every configuration."""
        return not self.stranded(*names)

    def path_to(self, goal: str | Configuration | Edge) -> Trace | None:
        """Shortest way from a new chart to a state, a configuration or over an edge.

        Returns:
            None if nothing leads there.
        """
        if isinstance(goal, Edge):
            before = self.path_to(goal.source)
            return before and Trace(self.chart, (*before.steps, goal))
        at = next((s for s in self.states if goal in (s, s.name)), None)
        if at is None:
            return None
        # Edges come in breadth-first order: the first one into a configuration is the
        # one by which it was discovered, and so the last of a shortest way.
        found_by: dict[Configuration, Edge] = {}
        for edge in self.edges:
            found_by.setdefault(edge.target, edge)
        steps: list[Edge] = []
        while at != self.states[0]:
            steps.append(found_by[at])
            at = found_by[at].source
        return Trace(self.chart, tuple(reversed(steps)))

    def counter_state(self, holds: Callable[[Configuration], bool]) -> Trace | None:
        """Shortest way to a configuration that breaks a rule, or None."""
        bad = next((state for state in self.states if not holds(state)), None)
        return self._verdict(bad)

    def counter_edge(self, holds: Callable[[Edge], bool]) -> Trace | None:
        """Shortest way over an edge that breaks a rule, or None."""
        bad = next((edge for edge in self.edges if not holds(edge)), None)
        return self._verdict(bad)

    def _verdict(self, bad: Configuration | Edge | None) -> Trace | None:
        if bad is not None:
            return self.path_to(bad)
        self._require_complete()
        return None

    def _require_complete(self) -> None:
        if not self.complete:
            raise IncompleteExploration(self.bound)


def explore(
    chart: type[StrictChart],
    stimuli: Sequence[Stimulus],
    *,
    watch: Watch | None = None,
    bound: int = DEFAULT_BOUND,
) -> Exploration:
    """Try every stimulus in every configuration that can be reached.

    Every try starts from a new chart and replays the way, so that nothing but the
    chart's own behaviour is trusted: no copy, no restored state.

    Args:
        chart: The chart to walk through.
        stimuli: All that may happen to it.
        watch: Folds each step into a memory that becomes part of the configuration. So
            a promise about whole paths ("exactly once") can be checked step by step.
        bound: The most configurations to visit; a chart (or a memory) without an end
            stops there, and the result says so.
    """
    fresh = chart()
    opening = tuple(fresh.take_effects())
    start = observe(fresh)
    ways: dict[Configuration, tuple[Stimulus, ...]] = {start: ()}
    waiting = deque([start])
    edges: list[Edge] = []
    refused: list[tuple[Configuration, Stimulus]] = []
    complete = True
    while waiting:
        source = waiting.popleft()
        for stimulus in stimuli:
            edge = _attempt(chart, source, ways[source], stimulus, watch)
            if edge is None:
                refused.append((source, stimulus))
                continue
            if edge.target not in ways:
                if len(ways) >= bound:
                    complete = False
                    continue
                ways[edge.target] = (*ways[source], stimulus)
                waiting.append(edge.target)
            edges.append(edge)
    return Exploration(chart, opening, tuple(ways), tuple(edges), tuple(refused), complete, bound)


def _attempt(
    chart: type[StrictChart],
    source: Configuration,
    way: tuple[Stimulus, ...],
    stimulus: Stimulus,
    watch: Watch | None,
) -> Edge | None:
    """Replay the way, then try one more stimulus: the edge, or None if it is refused."""
    machine = chart()
    for step in way:
        step.send_to(machine)
    machine.take_effects()
    try:
        stimulus.send_to(machine)
    except TransitionNotAllowed:
        return None
    effects = tuple(machine.take_effects())
    memory: Memory = watch(source.memory, stimulus, effects) if watch else ()
    return Edge(source, stimulus, observe(machine, memory), effects)
