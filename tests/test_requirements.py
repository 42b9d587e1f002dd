"""What gets installed: each package in one version, and nothing that was exchanged on the way."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements"
HASH = re.compile(r"sha256:[0-9a-f]{64}")


def pins(file: str) -> list[tuple[Requirement, list[str]]]:
    """Each pin of a file with its hashes."""
    text = (REQUIREMENTS / file).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [
        (Requirement(line.partition(" --hash")[0]), re.findall(r"--hash=(\S+)", line))
        for line in lines
    ]


@pytest.mark.parametrize("file", ["lock.txt", "dev.txt", "weights.txt", "clients.txt"])
def test_every_package_has_one_version_and_known_hashes(file: str) -> None:
    found = pins(file)
    assert found
    for requirement, hashes in found:
        assert [each.operator for each in requirement.specifier] == ["=="], requirement
        assert hashes, f"{requirement} may be anything"
        assert all(HASH.fullmatch(each) for each in hashes), requirement
    names = [requirement.name for requirement, _ in found]
    assert len(names) == len(set(names))


def test_only_torch_has_no_hash() -> None:
    assert [(each.name, hashes) for each, hashes in pins("torch.txt")] == [("torch", [])]


@pytest.mark.parametrize("file", ["lock.txt", "dev.txt", "weights.txt"])
def test_what_is_installed_is_what_is_pinned(file: str) -> None:
    for requirement, _ in pins(file):
        if requirement.marker is None or requirement.marker.evaluate():
            assert requirement.specifier.contains(version(requirement.name)), requirement


def test_what_a_platform_lacks_is_not_asked_of_it() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = map(Requirement, tomllib.load(file)["project"]["dependencies"])
    conditions = {each.name: str(each.marker) for each in wanted if each.marker}
    locked = {each.name: str(each.marker) for each, _ in pins("lock.txt") if each.marker}
    assert locked == conditions


def test_every_install_of_the_makefile_insists_on_the_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = re.findall(r"install (.*)-r requirements/(\w+).txt", makefile)
    assert {file for _, file in installs} == {"torch", "lock", "weights", "dev", "clients"}
    assert all("--require-hashes" in flags for flags, file in installs if file != "torch")
