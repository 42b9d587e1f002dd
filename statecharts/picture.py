"""Dresses the library's graph: colours, and labels that break where the eye wants it."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from html import escape
from typing import TYPE_CHECKING

from statemachine.contrib.diagram.model import ActionType, StateType
from statemachine.contrib.diagram.renderers.dot import DotRenderer, DotRendererConfig

from statecharts.drawing import arrows, diagram, label

if TYPE_CHECKING:
    import pydot
    from statemachine.contrib.diagram.model import (
        DiagramAction,
        DiagramState,
        DiagramTransition,
    )

INK = "#1f2933"
QUIET = "#52606d"
EFFECT = "#0b6e4f"
ACTIVE, FINAL, INITIAL, OTHER = "#ffd54f", "#eceff1", "#e3f2fd", "#ffffff"
SMALL_PT = 10

_STYLE = DotRendererConfig(
    font_name="Helvetica",
    transition_font_size=str(SMALL_PT),
    graph_attrs={
        # The library's fixed order of edges makes more crossings than graphviz's own.
        "ordering": "",
        "nodesep": "0.45",
        "ranksep": "0.25",
        "bgcolor": "white",
        "pad": "0.2",
    },
    node_attrs={"color": INK, "fontcolor": INK},
    edge_attrs={"color": QUIET, "fontcolor": INK, "arrowsize": "0.8"},
)


def dot_source(name: str, *, active: str | None = None) -> str:
    """The chart in graphviz's language; the same chart always gives the same text.

    Every state's node has the id ``NAME_STATE``, so that a page can light it up.

    Raises:
        ImportError: pydot is not installed (the library's renderer imports it).
    """
    graph = diagram(name, active=active)
    graph.transitions = arrows(graph)
    dot = DotRenderer(_STYLE).render(graph)
    dot.set("label", "")
    states = {state.id: state for state in graph.states}
    for subgraph in dot.get_subgraphs():
        for node in subgraph.get_nodes():
            if state := states.get(node.get_name()):
                _dress_node(node, state, name)
    # pydot keeps arrows between the same two states together, whatever came between them.
    drawn: dict[tuple[str, str], deque[DiagramTransition]] = defaultdict(deque)
    for transition in graph.transitions:
        drawn[transition.source, transition.targets[0]].append(transition)
    for edge in dot.get_edges():
        if edge.get_source() in states:
            transition = drawn[edge.get_source(), edge.get_destination()].popleft()
            edge.set("label", _table(_row(_lines(label(transition)))))
    assert not any(drawn.values())
    # The library names its helper nodes after addresses in memory.
    return re.sub(r"(__initial|__atomic)_\d+", r"\1", str(dot.to_string()))


def _dress_node(node: pydot.Node, state: DiagramState, name: str) -> None:
    title = f'<tr><td cellpadding="3"><b>{escape(state.name)}</b></td></tr>'
    rows = [_row(_lines(_body(action))) for action in state.actions]
    node.set("label", _table(title, *(["<hr/>"] if rows else []), *rows))
    node.set("id", f"{name}_{state.id}")
    node.set("fillcolor", _fill(state))
    node.set("penwidth", "1.4")
    node.set("margin", "0.08,0.04")


def _fill(state: DiagramState) -> str:
    if state.is_active:
        return ACTIVE
    if state.type is StateType.FINAL:
        return FINAL
    return INITIAL if state.is_initial else OTHER


def _body(action: DiagramAction) -> str:
    return f"entry / {action.body}" if action.type is ActionType.ENTRY else action.body


def _lines(text: str) -> str:
    """A UML label with its guard and each effect on a line and in a colour of its own."""
    head, _, effects = text.partition(" / ")
    event, _, guard = head.partition(" [")
    lines = [escape(event)]
    if guard:
        lines.append(f'<font color="{QUIET}">[{escape(guard)}</font>')
    if effects:
        lines += [f'<font color="{EFFECT}">/ {escape(name)}</font>' for name in effects.split(", ")]
    return "<br/>".join(lines)


def _row(lines: str) -> str:
    font = f'<font point-size="{SMALL_PT}">{lines}</font>'
    return f'<tr><td align="left" balign="left" cellpadding="2">{font}</td></tr>'


def _table(*rows: str) -> str:
    inside = "".join(rows)
    return f'<<table border="0" cellborder="0" cellspacing="0" cellpadding="0">{inside}</table>>'
