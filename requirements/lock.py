"""Pins what is installed in the running Python: ``lock.txt`` and ``dev.txt``.

``lock.txt`` holds what ``[project.dependencies]`` and the extras ``local`` and
``microphone`` need, ``dev.txt`` what the extra ``dev`` needs on top; torch and the packages
with weights are pinned by hand in their own files. Run it by ``make lock``.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
BY_HAND = {"torch"}
BUILD_TOOLS = ["setuptools"]
"""Kept among the pins of ``dev``, so that the project is built without a download."""


def closure(wanted: list[str]) -> dict[str, str]:
    """Return name and installed version of all that these requirements lead to."""
    pins: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = [Requirement(text) for text in wanted]
    while queue:
        requirement = queue.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"error: {name} is not installed; make install first")
        pins[name] = installed.version
        queue.extend(
            needed
            for needed in map(Requirement, installed.requires or [])
            if needed.marker is None
            or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        )
    return pins


def write(path: Path, pins: dict[str, str], heading: str) -> None:
    """Write pins as a requirements file, without the local part of a version."""
    lines = [f"{name}=={pins[name].partition('+')[0]}" for name in sorted(pins)]
    path.write_text(f"# {heading} Written by: make lock\n" + "\n".join(lines) + "\n")
    sys.stdout.write(f"{path}: {len(lines)} packages\n")


def main() -> None:
    """Write both files beside this one."""
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    run = closure([*project["dependencies"], *extras["local"], *extras["microphone"]])
    dev = closure([*extras["dev"], *BUILD_TOOLS])
    lock = {name: pin for name, pin in run.items() if name not in BY_HAND}
    write(HERE / "lock.txt", lock, "What the server runs with.")
    only_dev = {name: pin for name, pin in dev.items() if name not in run}
    write(HERE / "dev.txt", only_dev, "What tests, checks and documentation need on top.")


if __name__ == "__main__":
    main()
