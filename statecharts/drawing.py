"""What there is to draw of a chart: what the library reads from it, plus its effects.

The library knows states, events and guards, but callbacks only by name. What a callback
asks for is taken from the exploration, so a picture shows effects that really happen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from statemachine.contrib.diagram.extract import extract
from statemachine.contrib.diagram.model import ActionType, DiagramAction

from statecharts.catalogue import ENTRIES, exploration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from statemachine.contrib.diagram.model import DiagramGraph, DiagramState, DiagramTransition

    from statecharts.explore import Exploration

ELSE = "else"
"""Guard of a transition that is taken when no guard before it holds."""


def diagram(name: str, *, active: str | None = None) -> DiagramGraph:
    """States and transitions of a chart, named as in the code.

    Args:
        name: A name of the catalogue.
        active: A state to highlight.

    Raises:
        KeyError: There is no chart of this name.
    """
    chart, seen = ENTRIES[name].chart, exploration(name)
    graph = extract(chart)
    graph.name = name
    known = [transition for state in chart.states for transition in state.transitions]
    for drawn, real in zip(graph.transitions, known, strict=True):
        drawn.event = str(real.event)
        drawn.guards = [guard.replace("!", "not ") for guard in drawn.guards]
    for drawn in graph.transitions:
        drawn.guards = drawn.guards or _fallback(drawn, graph.transitions)
        drawn.actions = list(effects_of(seen, drawn))
    for state in graph.states:
        state.is_active = state.id == active
        state.actions = list(_inside(state, graph.transitions, seen))
    return graph


def label(transition: DiagramTransition) -> str:
    """A transition as UML writes it: ``event [guard] / Effect, Effect``."""
    guards = f" [{', '.join(transition.guards)}]" if transition.guards else ""
    effects = f" / {', '.join(transition.actions)}" if transition.actions else ""
    return f"{transition.event}{guards}{effects}"


def effects_of(seen: Exploration, transition: DiagramTransition) -> tuple[str, ...]:
    """Names of all effects of a transition, in order."""
    (target,) = transition.targets or [transition.source]
    wanted = (transition.source, transition.event, target)
    edge = next(
        (e for e in seen.edges if (e.source.name, e.stimulus.event, e.target.name) == wanted), None
    )
    return tuple(type(effect).__name__ for effect in edge.effects) if edge else ()


def entry_effects(seen: Exploration, state: str) -> tuple[str, ...]:
    """Names of the effects of entering a state, whatever way leads into it.

    Those are the effects that all ways into it end with, provided that the chart has an
    entry callback for it at all: one lone way would otherwise make everything common.
    """
    if not hasattr(seen.chart, f"on_enter_{state}"):
        return ()
    ways = [
        [type(effect).__name__ for effect in reversed(edge.effects)]
        for edge in seen.edges
        if edge.target.name == state != edge.source.name
    ]
    common: list[str] = []
    for column in zip(*ways, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    return tuple(reversed(common))


def arrows(graph: DiagramGraph) -> list[DiagramTransition]:
    """The transitions as they are drawn.

    Entry effects stand in the state and not on each arrow into it, and events that do the
    same between the same two states share one arrow.
    """
    seen = exploration(graph.name)
    shared: dict[tuple[str, ...], DiagramTransition] = {}
    for transition in graph.transitions:
        if transition.is_internal:
            continue
        entered = len(entry_effects(seen, transition.targets[0]))
        arrow = replace(transition, actions=transition.actions[: len(transition.actions) - entered])
        key = (arrow.source, *arrow.targets, *arrow.guards, "/", *arrow.actions)
        if key in shared:
            shared[key].event += f", {arrow.event}"
        else:
            shared[key] = arrow
    return list(shared.values())


def _fallback(drawn: DiagramTransition, transitions: Iterable[DiagramTransition]) -> list[str]:
    for other in transitions:
        if other is drawn:
            break
        if (other.source, other.event) == (drawn.source, drawn.event):
            return [ELSE]
    return []


def _inside(
    state: DiagramState, transitions: list[DiagramTransition], seen: Exploration
) -> Iterator[DiagramAction]:
    """What a state's box says: its entry effects, and the events that do not leave it."""
    if entered := entry_effects(seen, state.id):
        yield DiagramAction(ActionType.ENTRY, ", ".join(entered))
    for transition in transitions:
        if transition.is_internal and transition.source == state.id:
            yield DiagramAction(ActionType.INTERNAL, label(transition))
