"""Pins what is installed in the running Python, with the hashes of all that may be downloaded.

``lock.txt`` holds what ``[project.dependencies]`` and the extras ``local`` and
``microphone`` need, ``dev.txt`` what the extra ``dev`` needs on top. ``weights.txt`` and
``clients.txt`` are pinned by hand and get their hashes here. torch is pinned by hand in a file of
its own, without hashes: its builds for CPUs and for GPUs come from different places, under one
version. Run it by ``make lock``.
"""

from __future__ import annotations

import platform
import subprocess
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
HASHER = [
    *(sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet"),
    # The pins are given, so nothing is to be resolved; hashes for all platforms, not for this one.
    *("--no-deps", "--universal", "--generate-hashes", "--no-annotate", "--no-header"),
    *("--python-version", platform.python_version()),
]


def closure(wanted: list[Requirement]) -> dict[str, str]:
    """Return name and installed version of all that these requirements lead to."""
    pins: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = list(wanted)
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
        pins[name] = installed.version.partition("+")[0]
        queue.extend(
            needed
            for needed in map(Requirement, installed.requires or [])
            if needed.marker is None
            or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        )
    return pins


def with_markers(pins: dict[str, str], wanted: list[Requirement]) -> list[str]:
    """Return pins as lines, each with the condition under which the project wants it."""
    markers = {canonicalize_name(each.name): f" ; {each.marker}" for each in wanted if each.marker}
    return [f"{name}=={pins[name]}{markers.get(name, '')}" for name in sorted(pins)]


def write(path: Path, heading: str, pins: list[str]) -> None:
    """Write a requirements file whose pins have hashes."""
    done = subprocess.run(  # noqa: S603 - our own command
        HASHER, input="\n".join(pins), stdout=subprocess.PIPE, text=True, check=True
    )
    path.write_text(heading + done.stdout, encoding="utf-8")
    sys.stdout.write(f"{path}: {len(pins)} packages\n")


def rewrite(path: Path) -> None:
    """Write the hashes of a file that is pinned by hand anew."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pins = [line.removesuffix("\\").strip() for line in lines if "==" in line and line[0].isalnum()]
    heading = "".join(f"{line}\n" for line in lines if line.startswith("#"))
    write(path, heading, pins)


def main() -> None:
    """Write the files beside this one."""
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["local"], *extras["microphone"]]
    runs_with = [Requirement(text) for text in wanted]
    run = closure(runs_with)
    dev = closure([Requirement(text) for text in [*extras["dev"], *BUILD_TOOLS]])
    lock = {name: pin for name, pin in run.items() if name not in BY_HAND}
    write(
        HERE / "lock.txt",
        "# What the server runs with. Written by: make lock\n",
        with_markers(lock, runs_with),
    )
    write(
        HERE / "dev.txt",
        "# What tests, checks and documentation need on top. Written by: make lock\n",
        with_markers({name: pin for name, pin in dev.items() if name not in run}, []),
    )
    for by_hand in ("weights.txt", "clients.txt"):
        rewrite(HERE / by_hand)


if __name__ == "__main__":
    main()
