"""The tests that pages of the documentation name really exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "_build" not in page.parts
]
_NAMED = re.compile(r"`((?:[\w/]+/)?test_\w+\.py)::(\w+)`")


@cache
def _defined_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _named_in(page: Path) -> list[tuple[str, str]]:
    return _NAMED.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    missing = [
        f"{file}::{name}"
        for file, name in _named_in(page)
        if not (path := ROOT / "tests" / file.removeprefix("tests/")).exists()
        or name not in _defined_in(path)
    ]
    assert missing == []


def test_every_kind_of_fault_has_a_test() -> None:
    page = (ROOT / "docs" / "explanation" / "fault_classes.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    kinds = [row for row in rows if not row.startswith("| kind of fault |")]
    assert len(kinds) > 100
    assert [row for row in kinds if not _NAMED.search(row)] == []
