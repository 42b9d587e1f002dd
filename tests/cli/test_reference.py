"""The generated pages of the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s_actors.cli.reference import main, reference_pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", ["configuration.md", "cli.md"])
def test_the_page_in_the_tree_is_current(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == reference_pages()[name], "run: make reference"


def test_the_pages_do_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reference_pages()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert reference_pages() == before


def test_the_pages_are_written_into_a_folder(tmp_path: Path) -> None:
    main(tmp_path)
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert written == reference_pages()
