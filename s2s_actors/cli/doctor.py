"""The doctor command: what is installed, what is missing, and what mends it."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import typer

from s2s_actors import __version__
from s2s_actors.cli.teaching import taught

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from s2s_actors.backends.weights import Finding

__all__ = ["Check", "checks", "doctor"]

_OPTIONAL: Final = frozenset({"openai", "sounddevice"})
"""What the default ``serve`` does without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the report.

    Attributes:
        topic: Heading that it stands under.
        name: What was looked at.
        found: Whether it is as it should be.
        needed: Whether the default ``serve`` can't run without.
        detail: What was found, or what is wrong.
        remedy: Command or change that mends it.
    """

    topic: str
    name: str
    found: bool
    needed: bool
    detail: str
    remedy: str = ""

    @property
    def mark(self) -> str:
        """The verdict in one word."""
        if self.found:
            return "ok"
        return "MISSING" if self.needed else "absent"


def doctor() -> int:
    """Examine the installation (the help text is set below)."""
    report = list(checks())
    topic = ""
    for check in report:
        if check.topic != topic:
            topic = check.topic
            typer.echo(topic)
        typer.echo(f"  {check.mark:<8} {check.name:<22} {check.detail}".rstrip())
        if not check.found and check.remedy:
            typer.echo(f"           {'':<22} mend it with: {check.remedy}")
    missing = [check.name for check in report if check.needed and not check.found]
    if missing:
        typer.echo(f"\ns2s-actors serve can't run with its defaults: {', '.join(missing)}")
        return 1
    typer.echo("\ns2s-actors serve can run with its defaults.")
    return 0


doctor.__doc__ = taught(
    "Say what is installed, and what is missing.\n\n"
    "Shows which models are found where, and the command that mends what is missing. Loads no "
    "model. Exit code 1: serve could not run with its defaults.",
    "s2s-actors doctor",
)


def checks() -> Iterator[Check]:
    """Look at everything that the commands need; loads no model library."""
    from s2s_actors.backends.gguf_conversion import cache_directory  # noqa: PLC0415 - only here
    from s2s_actors.backends.weights import survey  # noqa: PLC0415 - only here

    yield _python()
    yield Check(topic="program", name="s2s_actors", found=True, needed=True, detail=__version__)
    yield _cache(cache_directory())
    for finding in survey():
        yield _from_finding(finding)
    yield _portaudio()
    yield _graphviz()


def _python() -> Check:
    return Check(
        topic="program",
        name="Python",
        found=sys.version_info >= (3, 11),
        needed=True,
        detail=f"{platform.python_version()} ({sys.executable})",
        remedy="install Python 3.11 or newer",
    )


def _cache(folder: Path) -> Check:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    good = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return Check(
        topic="program",
        name="cache folder",
        found=good,
        needed=True,
        detail=str(folder) if good else f"{folder}: not writable",
        remedy=f"make {existing} a folder that you may write to",
    )


def _from_finding(finding: Finding) -> Check:
    return Check(
        topic={"library": "libraries", "model": "models"}.get(finding.what, finding.what),
        name=finding.name,
        found=finding.found,
        needed=finding.name not in _OPTIONAL,
        detail=f"{finding.version or ''} ({finding.where})".strip() if finding.found else "",
        remedy=finding.remedy,
    )


def _portaudio() -> Check:
    found, detail = True, "loaded by sounddevice"
    try:
        importlib.import_module("sounddevice")
    except (ImportError, OSError) as error:
        found, detail = False, f"talk has no microphone: {error}"
    return Check(
        topic="tools",
        name="PortAudio",
        found=found,
        needed=False,
        detail=detail,
        remedy="apt-get install libportaudio2 (Debian), brew install portaudio (macOS)",
    )


def _graphviz() -> Check:
    dot = shutil.which("dot")
    return Check(
        topic="tools",
        name="Graphviz",
        found=dot is not None,
        needed=False,
        detail=dot or "no diagrams as svg or png",
        remedy="apt-get install graphviz (Debian), brew install graphviz (macOS)",
    )
