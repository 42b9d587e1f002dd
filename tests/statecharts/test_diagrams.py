"""The drawings in the repository are current, and it is noticed if they are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from statecharts.catalogue import ENTRIES, exploration
from statecharts.render import FOLDER, main, stale_diagrams, write_diagrams
from statecharts.tables import COUNTS_END, COUNTS_START

every_chart = pytest.mark.parametrize("name", list(ENTRIES))
needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is missing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the drawings in the repository."""
    return Path(shutil.copytree(FOLDER, tmp_path / "diagrams"))


def test_the_drawings_in_the_repository_are_current() -> None:
    assert stale_diagrams() == []


@pytest.mark.parametrize("name", ["unit.mmd", "unit.md", "unit.dot", "index.md"])
def test_a_text_that_was_changed_is_stale(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert stale_diagrams(folder) == [path]


def test_an_svg_is_stale_when_it_was_made_from_another_source(folder: Path) -> None:
    path = folder / "unit.svg"
    path.write_text((folder / "stage.svg").read_text(encoding="utf-8"), encoding="utf-8")
    assert stale_diagrams(folder) == [path]


def test_an_svg_of_another_version_of_graphviz_is_not_stale(folder: Path) -> None:
    path = folder / "unit.svg"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("graphviz version", "another version"), encoding="utf-8")
    assert stale_diagrams(folder) == []


def test_a_missing_and_a_left_over_drawing_are_stale(folder: Path) -> None:
    (folder / "turn.dot").unlink()
    (folder / "heart.dot").touch()
    assert stale_diagrams(folder) == [folder / "heart.dot", folder / "turn.dot"]


@needs_graphviz
def test_writing_makes_a_folder_current_and_touches_only_what_is_stale(folder: Path) -> None:
    (folder / "turn.svg").unlink()
    (folder / "heart.dot").touch()
    assert write_diagrams(folder) == [folder / "heart.dot", folder / "turn.svg"]
    assert stale_diagrams(folder) == []
    assert write_diagrams(folder) == []


@needs_graphviz
def test_writing_into_a_new_folder_draws_everything(tmp_path: Path) -> None:
    write_diagrams(tmp_path / "new")
    drawn = {path.name for path in (tmp_path / "new").iterdir()}
    assert drawn == {path.name for path in FOLDER.iterdir()}


@needs_graphviz
def test_the_command_says_by_its_exit_code_whether_all_is_current(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "unit.md").unlink()
    assert main(["--check", "--folder", str(folder)]) == 1
    assert capsys.readouterr().out == f"stale: {folder / 'unit.md'}\n"
    assert main(["--write", "--folder", str(folder)]) == 0
    assert main(["--check", "--folder", str(folder)]) == 0


@every_chart
def test_the_index_states_how_much_was_explored(name: str) -> None:
    seen = exploration(name)
    row = f"| {name} | {len(seen.states)} | {len(seen.edges)} | {len(seen.refused)} |"
    assert row in (FOLDER / "index.md").read_text(encoding="utf-8")


@every_chart
def test_the_documentation_shows_every_chart_and_the_generated_numbers(name: str) -> None:
    page = (FOLDER.parents[1] / "docs/reference/charts.md").read_text(encoding="utf-8")
    assert f"{{include}} ../../statecharts/diagrams/{name}.md" in page
    assert f':start-after: "{COUNTS_START}"' in page
    assert f':end-before: "{COUNTS_END}"' in page
