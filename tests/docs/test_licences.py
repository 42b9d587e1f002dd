"""What the project brings may be passed on, and the page of licences says on which terms."""

from __future__ import annotations

import runpy
import sys
from email.message import Message
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GENERATOR = runpy.run_path(str(DOCS / "generate_licences.py"))
GROUPS = GENERATOR["groups"]()
ONLY_TOOLS = "Tools: the extra `dev`"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems get other packages")
def test_the_page_of_licences_is_current() -> None:
    written = (DOCS / "reference" / "licences.md").read_text(encoding="utf-8")
    assert written == GENERATOR["page"](), "run: python docs/generate_licences.py"


def test_nothing_that_is_required_reaches_over_to_the_whole_program() -> None:
    assert [each.name for each in GROUPS["Required"] if each.is_strong] == []


def test_only_one_package_of_an_extra_reaches_over_to_the_whole_program() -> None:
    strong = [
        each.name
        for title, packages in GROUPS.items()
        if title != ONLY_TOOLS
        for each in packages
        if each.is_strong
    ]
    assert strong == ["piper-tts"], "say so in docs/generate_licences.py and in the README"


def test_a_licence_that_covers_its_own_files_is_taken_on_knowingly() -> None:
    weak = {each.name for title in GROUPS for each in GROUPS[title] if each.is_weak}
    assert weak == {"certifi", "hypothesis", "pathspec", "soxr", "tqdm"}


def test_every_package_states_a_licence() -> None:
    assert [e.name for each in GROUPS.values() for e in each if e.licence == "not stated"] == []


@pytest.mark.parametrize(
    ("licence", "is_strong", "is_weak"),
    [
        ("MIT", False, False),
        ("GPL-3.0-or-later", True, False),
        ("AGPL-3.0-only", True, False),
        ("GNU General Public License (GPL)", True, False),
        ("LGPL-2.1-or-later", False, True),
        ("MPL-2.0 AND MIT", False, True),
        ("BSD OR GNU General Public License (GPL)", False, False),
    ],
)
def test_licences_are_told_apart(licence: str, is_strong: bool, is_weak: bool) -> None:
    package = GENERATOR["Package"]("a", "1", licence, "b")
    assert (package.is_strong, package.is_weak) == (is_strong, is_weak)


def test_a_licence_is_found_wherever_a_package_states_it() -> None:
    for header, value in (
        ("License-Expression", "MIT"),
        ("License", "MIT License"),
        ("Classifier", "License :: OSI Approved :: MIT License"),
    ):
        metadata = Message()
        metadata[header] = value
        assert GENERATOR["licence_of"](metadata) == "MIT"
