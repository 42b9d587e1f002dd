"""Drawings tell the truth, and say what they need."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from statecharts.catalogue import ENTRIES, exploration
from statecharts.drawing import arrows, diagram, label
from statecharts.render import RenderError, main, render

every_chart = pytest.mark.parametrize("name", list(ENTRIES))
needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is missing")
REPOSITORY = Path(__file__).parents[2]


def text_of(name: str, kind: str, **options: str) -> str:
    drawn = render(name, kind, **options)  # type: ignore[arg-type]
    assert isinstance(drawn, str)
    return drawn


@every_chart
@pytest.mark.parametrize("kind", ["mermaid", "md", "dot"])
def test_a_drawing_names_every_state_event_guard_and_effect(name: str, kind: str) -> None:
    drawn = text_of(name, kind)
    seen = exploration(name)
    words = {state.name for state in seen.states}
    words |= {edge.stimulus.event for edge in seen.edges}
    words |= {type(effect).__name__ for edge in seen.edges for effect in edge.effects}
    assert {word for word in words if word not in drawn} == set()


@every_chart
def test_a_page_opens_with_the_promise_and_has_no_table_of_the_library_in_it(name: str) -> None:
    page = text_of(name, "md")
    assert page.startswith(f"# {name.capitalize()}\n")
    assert "Promises: " in page
    assert "+---" not in page
    assert "{statechart" not in page


def test_a_page_tells_the_effects_of_a_transition_in_order() -> None:
    row = "| `active` | `end_session` | `is_own_lease` | `draining` | "
    assert row + "`Fence`, `SendSessionEnd`, `ArmDrainDeadline` |" in text_of("unit", "md")


def test_entry_effects_stand_in_the_state_and_the_others_on_the_arrow() -> None:
    lines = text_of("connection", "mermaid").splitlines()
    assert "    closing : entry / SendClose" in lines
    assert "    connected --> closing : server_close / EndSession" in lines


def test_the_transition_that_is_taken_when_no_guard_holds_says_so() -> None:
    assert "hearing --> overtaken : commit [else] / Transcribe" in text_of("turn", "mermaid")


def test_events_that_do_the_same_share_an_arrow() -> None:
    assert "quarantined --> idle : drained, replaced [is_own_lease]" in text_of("unit", "mermaid")


def test_an_event_that_stays_in_its_state_is_written_into_it() -> None:
    line = "    unbound : session_end / PassSessionEnd"
    assert line in text_of("stage", "mermaid").splitlines()


@pytest.mark.parametrize("kind", ["mermaid", "dot"])
def test_a_state_can_be_highlighted(kind: str) -> None:
    assert text_of("unit", kind, active="draining") != text_of("unit", kind)


def test_the_same_chart_gives_the_same_text_in_another_process() -> None:
    script = (
        "import sys; from statecharts.render import render; sys.stdout.write(render('unit', 'dot'))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert other.stdout == render("unit", "dot")


@needs_graphviz
def test_an_image_comes_out_of_graphviz() -> None:
    svg, png = render("stage", "svg"), render("stage", "png")
    assert isinstance(svg, str)
    assert 'id="stage_working"' in svg
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "kind", "active", "says"),
    [
        ("heart", "svg", None, "no chart 'heart': choose from server, unit"),
        ("unit", "gif", None, "no format 'gif': choose from mermaid, md"),
        ("unit", "dot", "asleep", "the unit chart has no state 'asleep'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(
    name: str, kind: str, active: str | None, says: str
) -> None:
    with pytest.raises(RenderError, match=says):
        render(name, kind, active=active)  # type: ignore[arg-type]


def test_a_missing_graphviz_is_said_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RenderError, match="graphviz") as failure:
        render("unit", "svg")
    assert failure.value.hint == "apt-get install graphviz"


@pytest.fixture
def without_pydot(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("statecharts.picture", "statemachine.contrib.diagram.renderers.dot"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "pydot", None)


@pytest.mark.usefixtures("without_pydot")
def test_a_missing_pydot_is_said_with_the_command_that_mends_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(RenderError, match="pydot") as failure:
        render("unit", "dot")
    assert failure.value.hint == "pip install pydot"
    assert main(["--check"]) == 2
    assert "pip install pydot" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["mermaid", "md"])
def test_text_can_be_drawn_where_pydot_is_not_installed(kind: str) -> None:
    script = (
        "import sys; sys.modules['pydot'] = None; from statecharts.render import render; "
        f"sys.stdout.write(render('unit', {kind!r}))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert other.stdout == render("unit", kind)  # type: ignore[arg-type]


@every_chart
def test_every_arrow_of_the_picture_bears_its_own_label(name: str) -> None:
    found = re.findall(r"(?m)^(\w+) -> (\w+) +\[label=(<.*>)", text_of(name, "dot"))
    drawn = sorted((source, target, plain(text)) for source, target, text in found)
    arrows_of_chart = arrows(diagram(name))
    assert drawn == sorted((a.source, a.targets[0], plain(label(a))) for a in arrows_of_chart)


def plain(text: str) -> list[str]:
    """The words of a label, without marks and tags."""
    return re.findall(r"\w+", re.sub(r"<[^<>]+>", " ", text))
