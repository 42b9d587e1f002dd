"""Writes charts as Markdown: one page each, and an index with what was explored."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from statecharts.catalogue import ENTRIES, exploration
from statecharts.drawing import ELSE, diagram

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from statemachine.contrib.diagram.model import DiagramGraph

    from statecharts.base import Effect, StrictChart
    from statecharts.explore import Exploration

COUNTS_START = "<!-- counts: start -->"
COUNTS_END = "<!-- counts: end -->"


def page(name: str) -> str:
    """One chart: what it promises, its picture, transitions, guards and effects."""
    entry, seen, graph = ENTRIES[name], exploration(name), diagram(name)
    start = next(state.id for state in graph.states if state.is_initial)
    sections = [
        f"# {name.capitalize()}",
        f"{entry.summary}.",
        promise(entry.chart),
        f"![Statechart: {name}]({name}.svg)",
        f"It starts in `{start}`. Nothing is owed in {_codes(entry.resting)}.",
        "## Transitions",
        _transitions(graph),
        _section("Guards", ("Guard", "Meaning"), _guards(entry.chart, graph)),
        _section("Effects", ("Effect", "What the owner does"), _effects(seen)),
        f"Explored: {counts(seen)}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def index() -> str:
    """All charts, with links, and with how much of each was explored."""
    links = [
        (f"[{name}]({name}.md)", f"[svg]({name}.svg), [mermaid]({name}.mmd), [dot]({name}.dot)")
        for name in ENTRIES
    ]
    sections = [
        "# Statecharts",
        "Generated from the charts that run: `python -m statecharts.render --write`.",
        _table(("Chart", "Other forms"), links),
        "## What was explored",
        COUNTS_START,
        _table(("Chart", "Configurations", "Edges", "Refusals", "What it is"), _count_rows()),
        COUNTS_END,
    ]
    return "\n\n".join(sections) + "\n"


def promise(chart: type[StrictChart]) -> str:
    """The chart's docstring without the table that the library puts into it."""
    paragraphs = (inspect.getdoc(chart) or "").split("\n\n")
    kept = [text.strip() for text in paragraphs if not text.lstrip().startswith(("+", "|"))]
    return "\n\n".join(text for text in kept if text)


def counts(seen: Exploration) -> str:
    """How much was explored, in words."""
    return (
        f"{len(seen.states)} configurations, {len(seen.edges)} edges, {len(seen.refused)} refusals"
    )


def _count_rows() -> Iterable[tuple[str, ...]]:
    total = [0, 0, 0]
    for name, entry in ENTRIES.items():
        seen = exploration(name)
        sizes = [len(seen.states), len(seen.edges), len(seen.refused)]
        total = [before + size for before, size in zip(total, sizes, strict=True)]
        yield (name, *map(str, sizes), entry.summary)
    yield ("all", *map(str, total), "")


def _transitions(graph: DiagramGraph) -> str:
    rows = [
        (
            f"`{t.source}`",
            f"`{t.event}`",
            _codes(t.guards),
            "stays" if t.is_internal else f"`{t.targets[0]}`",
            _codes(t.actions),
        )
        for t in graph.transitions
    ]
    return _table(("State", "Event", "Guard", "Next", "Effects, in order"), rows)


def _guards(chart: type[StrictChart], graph: DiagramGraph) -> list[tuple[str, str]]:
    names = dict.fromkeys(g.removeprefix("not ") for t in graph.transitions for g in t.guards)
    rows = [(f"`{name}`", _first_line(getattr(chart, name))) for name in names if name != ELSE]
    if ELSE in names:
        rows.append((f"`{ELSE}`", "Every other case."))
    return rows


def _effects(seen: Exploration) -> list[tuple[str, str]]:
    kinds: dict[type[Effect], None] = {}
    for edge in seen.edges:
        kinds.update(dict.fromkeys(map(type, edge.effects)))
    return [(f"`{kind.__name__}`", _first_line(kind)) for kind in kinds]


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"## {title}\n\n{_table(head, rows)}" if rows else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
