"""Pages and pictures that are made from something else, and links that lead somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
HOUSE = DOCS / "explanation" / "house.dot"
PICTURES = sorted((DOCS / "explanation").glob("*.dot"))
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def test_the_page_of_events_is_current() -> None:
    page = runpy.run_path(str(DOCS / "generate_events.py"))["page"]()
    written = (DOCS / "reference" / "events.md").read_text(encoding="utf-8")
    assert written == page, "run: python docs/generate_events.py"


def test_the_page_of_events_names_every_event_and_every_shape_once() -> None:
    written = (DOCS / "reference" / "events.md").read_text(encoding="utf-8")
    titles = re.findall(r"^### (.*)$", written, re.MULTILINE)
    assert len(titles) == len(set(titles))
    links = set(re.findall(r"\]\(#(\w+)\)", written))
    assert links <= {title.lower() for title in titles}


@pytest.mark.parametrize("source", PICTURES, ids=lambda path: path.stem)
def test_a_picture_shows_all_that_its_source_says(source: Path) -> None:
    wanted = set(re.findall(r"[A-Za-z_]{2,}", _words_of(source.read_text(encoding="utf-8"))))
    drawn = " ".join(
        re.findall(r"<text[^>]*>([^<]*)</text>", source.with_suffix(".svg").read_text("utf-8"))
    )
    missing = wanted - set(re.findall(r"[A-Za-z_]{2,}", drawn))
    assert not missing, f"run: dot -Tsvg {source.name} -o {source.stem}.svg"


def test_the_house_has_every_room() -> None:
    root = DOCS.parent / "s2s_actors"
    rooms = {path.parent.name for path in root.glob("*/__init__.py")}
    drawn = set(re.findall(r"<b>(\w+)", HOUSE.read_text(encoding="utf-8")))
    assert rooms <= drawn


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:s2s_actors|statecharts|docs|tests)/[\w/.]+)`", page.read_text(encoding="utf-8")
    )
    assert [path for path in named if not (DOCS.parent / path).exists()] == []


def _words_of(dot: str) -> str:
    """What a picture says: its labels, without markup."""
    labels = re.findall(r'label="([^"]*)"', dot)
    labels += re.findall(r"label=<(.*?)>[,\]]", dot, re.DOTALL)
    return re.sub(r"<[^>]*>|\\n", " ", " ".join(labels))
