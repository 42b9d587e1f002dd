"""Draws the charts, and keeps the drawings in the repository current.

``python -m statecharts.render --check`` fails if a drawing is stale; ``--write`` renews it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from statemachine.contrib.diagram.graphviz import (
    GraphvizError,
    GraphvizNotFoundError,
    run_graphviz,
)
from statemachine.contrib.diagram.renderers.mermaid import MermaidRenderer

from statecharts import tables
from statecharts.catalogue import ENTRIES
from statecharts.drawing import arrows, diagram, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Format: TypeAlias = Literal["mermaid", "md", "dot", "svg", "png"]
FORMATS: tuple[Format, ...] = get_args(Format)
FOLDER = Path(__file__).parent / "diagrams"

_ENDINGS: dict[str, Format] = {".mmd": "mermaid", ".md": "md", ".dot": "dot", ".svg": "svg"}


class RenderError(Exception):
    """A chart can't be drawn.

    Attributes:
        message: What is wrong.
        hint: The command that mends it, if one is known.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def render(chart_name: str, format: Format, *, active: str | None = None) -> str | bytes:  # noqa: A002
    """Draw one chart.

    Args:
        chart_name: A name of the catalogue.
        format: ``mermaid``, ``md`` (page with tables), ``dot``, ``svg`` or ``png``.
        active: A state to highlight in a drawing; a page has no use for it.

    Returns:
        Text, or the bytes of a PNG.

    Raises:
        RenderError: No such chart, format or state; or pydot or graphviz is missing.
    """
    if chart_name not in ENTRIES:
        raise RenderError(f"no chart {chart_name!r}: choose from {', '.join(ENTRIES)}")
    if active is not None and active not in {s.id for s in ENTRIES[chart_name].chart.states}:
        raise RenderError(f"the {chart_name} chart has no state {active!r}")
    match format:
        case "mermaid":
            return _mermaid(chart_name, active)
        case "md":
            return tables.page(chart_name)
        case "dot":
            return _dot(chart_name, active)
        case "svg":
            return _svg(_dot(chart_name, active))
        case "png":
            return _graphviz(_dot(chart_name, active), "png")
        case _:
            raise RenderError(f"no format {format!r}: choose from {', '.join(FORMATS)}")


def write_diagrams(folder: Path = FOLDER) -> list[Path]:
    """Renew what is stale in a folder, and remove what belongs to no chart.

    Returns:
        The files that were written or removed.

    Raises:
        RenderError: pydot or graphviz is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stale = stale_diagrams(folder)
    for path in stale:
        if path.name == "index.md":
            path.write_text(tables.index(), encoding="utf-8")
        elif path.stem in ENTRIES and path.suffix in _ENDINGS:
            path.write_text(str(render(path.stem, _ENDINGS[path.suffix])), encoding="utf-8")
        else:
            path.unlink()
    return stale


def stale_diagrams(folder: Path = FOLDER) -> list[Path]:
    """Files of a folder that differ from what the charts say: missing, old, or left over.

    An SVG is judged by the dot source that it was made from, because another version of
    graphviz draws the same source differently. So this needs pydot, but not graphviz.

    Raises:
        RenderError: pydot is missing.
    """
    expected = {folder / name: text for name, text in _expected()}
    left_over = set(folder.iterdir()) - expected.keys() if folder.exists() else set()
    old = {path for path, text in expected.items() if not _agrees(path, text)}
    return sorted(old | left_over)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0 if all is current, 1 if not, 2 if it can't tell."""
    parser = argparse.ArgumentParser(prog="python -m statecharts.render", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail if a drawing is stale")
    action.add_argument("--write", action="store_true", help="renew the drawings")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the drawings are")
    options = parser.parse_args(arguments)
    try:
        paths = write_diagrams(options.folder) if options.write else stale_diagrams(options.folder)
    except RenderError as error:
        hint = f" ({error.hint})" if error.hint else ""
        sys.stderr.write(f"{error.message}{hint}\n")
        return 2
    word = "renewed" if options.write else "stale"
    sys.stdout.writelines(f"{word}: {path}\n" for path in paths)
    return int(bool(paths) and options.check)


def _mermaid(chart_name: str, active: str | None) -> str:
    graph = diagram(chart_name, active=active)
    graph.transitions = arrows(graph)
    for arrow in graph.transitions:
        arrow.event, arrow.guards = label(arrow), []
    return MermaidRenderer().render(graph)


def _dot(chart_name: str, active: str | None = None) -> str:
    try:
        from statecharts.picture import dot_source  # noqa: PLC0415 - slow to import
    except ImportError as error:
        raise RenderError(
            "drawing needs the Python package pydot", hint="pip install pydot"
        ) from error
    return dot_source(chart_name, active=active)


def _svg(source: str) -> str:
    drawn = _graphviz(source, "svg").decode()
    return drawn.replace("<svg", f"{_seal(source)}\n<svg", 1)


def _graphviz(source: str, kind: str) -> bytes:
    try:
        return run_graphviz(source, kind)
    except GraphvizNotFoundError as error:
        raise RenderError(
            "drawing needs graphviz's program 'dot'", hint="apt-get install graphviz"
        ) from error
    except GraphvizError as error:
        raise RenderError(f"graphviz failed: {error}") from error


def _seal(source: str) -> str:
    return f"<!-- dot sha256: {hashlib.sha256(source.encode()).hexdigest()} -->"


def _expected() -> Iterator[tuple[str, str]]:
    """Names of files, each with its text or, for an SVG, with the seal that it must bear."""
    yield "index.md", tables.index()
    for name in ENTRIES:
        source = _dot(name)
        yield f"{name}.mmd", _mermaid(name, None)
        yield f"{name}.md", tables.page(name)
        yield f"{name}.dot", source
        yield f"{name}.svg", _seal(source)


def _agrees(path: Path, text: str) -> bool:
    if not path.is_file():
        return False
    found = path.read_text(encoding="utf-8")
    return text in found if path.suffix == ".svg" else text == found


if __name__ == "__main__":
    sys.exit(main())
