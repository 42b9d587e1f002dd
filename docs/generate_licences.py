"""Writes the page of licences from what the installed packages say of themselves.

``python docs/generate_licences.py`` renews ``docs/reference/licences.md``.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.metadata import PackageMetadata

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "licences.md"

STRONG: Final = ("AGPL", "GPL", "GNU General Public", "GNU Affero")
"""What names a licence that covers the whole program which a package becomes part of."""
WEAK: Final = ("LGPL", "MPL", "Mozilla", "EPL", "GNU Lesser")
"""What names one that covers the package's own files."""

_SAME: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "MIT License": "MIT",
}
"""One name for each licence that packages name in several ways."""

_SYSTEMS: Final = {"webrtc-noise-gain": "Linux", "uvloop": "not Windows"}
_HEAD: Final = """\
# Licences

s2s_actors itself is under Apache-2.0. This page is written from what the installed packages say
of themselves, in the versions of `requirements/`; a test checks that it is current.

- **Required** is what `pip install .` brings. No package there is under a licence that would
  reach over to the whole program (GPL, AGPL). Under one that covers the package's own files:
  {weak}. Who passes on a changed copy of such a package has to
  pass on its source. It is used as it comes, and can be exchanged.
- **`piper-tts` is GPL-3.0-or-later.** It is in the extra `local`, and is imported only when the
  backend `piper` is chosen. A product that is passed on together with it has to follow its
  licence. `pip install .` does not bring it, and a voice of your own takes its place
  ({{doc}}`/how-to/add_a_backend`).
- Tools are what tests and documentation need. Nothing of them is passed on.
"""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package.

    Attributes:
        name: Its canonical name.
        version: Its version, without the part that names a build.
        licence: What it says of its licence.
        brought_by: What wants it: the project itself or another package.
    """

    name: str
    version: str
    licence: str
    brought_by: str

    @property
    def is_strong(self) -> bool:
        """Whether its licence reaches over to what it becomes part of."""
        # Where there is a choice, the kinder licence is chosen.
        return all(
            any(word in each for word in STRONG) and not any(word in each for word in WEAK)
            for each in self.licence.split(" OR ")
        )

    @property
    def is_weak(self) -> bool:
        """Whether its licence covers its own files when they are changed and passed on."""
        return any(word in self.licence for word in WEAK)


def licence_of(metadata: PackageMetadata) -> str:
    """What a package says of its licence, in the shortest way that it says it."""
    stated = _header(metadata, "License-Expression") or _header(metadata, "License")
    if stated and "\n" not in stated:
        return _SAME.get(stated, stated)
    names = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: ")
    ]
    return " OR ".join(_SAME.get(name, name) for name in names) or "not stated"


def _header(metadata: PackageMetadata, name: str) -> str:
    return metadata[name] if name in metadata else ""  # noqa: SIM401 - the protocol has no get


def brought(wanted: Sequence[str], without: frozenset[str] = frozenset()) -> list[Package]:
    """Return all packages that these requirements lead to, sorted by name.

    Args:
        wanted: Requirements of the project.
        without: Names of packages that are told of elsewhere.
    """
    found: dict[str, Package] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = [(Requirement(text), "s2s_actors") for text in wanted]
    while queue:
        requirement, by = queue.pop(0)
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue  # not for this system
        version = installed.version.partition("+")[0]
        found.setdefault(name, Package(name, version, licence_of(installed.metadata), by))
        queue += [(each, name) for each in _needs(installed.requires or [], extras)]
    return [found[name] for name in sorted(found) if name not in without]


def _needs(requirements: Sequence[str], extras: frozenset[str]) -> Iterator[Requirement]:
    for needed in map(Requirement, requirements):
        marker = needed.marker
        if marker is None or any(marker.evaluate({"extra": each}) for each in {"", *extras}):
            yield needed


def groups() -> dict[str, list[Package]]:
    """Return all packages by what one installs to get them; each is told of once."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    weights = (ROOT / "requirements" / "weights.txt").read_text(encoding="utf-8").splitlines()
    wanted = {
        "Required": project["dependencies"],
        "Extra `local`: the embedded models": extras["local"],
        "Extra `microphone`": extras["microphone"],
        "Tools: the extra `dev`": extras["dev"],
    }
    result: dict[str, list[Package]] = {}
    told: frozenset[str] = frozenset()
    for title, requirements in wanted.items():
        result[title] = brought(requirements, told)
        told |= {package.name for package in result[title]}
    names = [line.partition("==")[0] for line in weights if line[:1].isalpha()]
    result["Weights"] = [_alone(name) for name in names]
    return result


def _alone(name: str) -> Package:
    installed = distribution(name)
    return Package(name, installed.version, licence_of(installed.metadata), "s2s_actors")


def page() -> str:
    """Return the page's text."""
    found = groups()
    weak = [f"`{each.name}` ({each.licence})" for each in found["Required"] if each.is_weak]
    return "\n".join([_HEAD.format(weak=", ".join(weak) or "none"), *_tables(found)])


def _tables(found: dict[str, list[Package]]) -> Iterator[str]:
    for title, packages in found.items():
        yield f"## {title}\n"
        yield "| package | version | licence | for |"
        yield "| --- | --- | --- | --- |"
        for each in packages:
            by = "the project" if each.brought_by == "s2s_actors" else each.brought_by
            where = f" ({_SYSTEMS[each.name]})" if each.name in _SYSTEMS else ""
            yield f"| {each.name}{where} | {each.version} | {each.licence} | {by} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
