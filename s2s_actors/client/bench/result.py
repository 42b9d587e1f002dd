"""The result of a run as data, and as JSON with keys that stay.

A key is never given another meaning; ``format`` counts up when one goes. New keys may come.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from s2s_actors import __version__
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from s2s_actors.client.bench.crowd_point import CrowdPoint
    from s2s_actors.client.bench.figures import Figure
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Row
    from s2s_actors.client.bench.seats import Server
    from s2s_actors.client.bench.summary import Summary

__all__ = ["FORMAT", "Machine", "Probe", "Result", "as_json", "machine", "write_text"]

FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where the client ran.

    Attributes:
        version: Of this package.
        python: Of the interpreter.
        system: Operating system and architecture.
        cores: Processors that this process may use.
        load: Load average of the last minute, at the end; None where there is none.
    """

    version: str
    python: str
    system: str
    cores: int
    load: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What an idle client saw while the others were talking.

    Attributes:
        scenario: What the others did.
        server: Name of the server.
        updated_ms: Time from ``session.update`` to ``session.updated``, None if none came.
        problem: Why there was no probing, empty if there was.
    """

    scenario: str
    server: str
    updated_ms: Figure | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything that a run found out.

    Attributes:
        options: What was asked for.
        servers: What was measured.
        summaries: Each scenario on each server.
        rows: Every trial.
        probes: What idle clients saw.
        crowds: What crowds showed, by their size.
        pools: ``GET /v1/pool`` at the end, by name of the server.
        machine: Where the client ran.
        made_at: When the run ended, in ISO 8601.
        format: Version of this layout.
    """

    options: BenchOptions
    servers: Sequence[Server]
    summaries: Sequence[Summary]
    rows: Sequence[Row]
    probes: Sequence[Probe]
    pools: Mapping[str, Mapping[str, object]]
    machine: Machine
    crowds: Sequence[CrowdPoint] = ()
    made_at: str = field(
        default_factory=lambda: datetime.now(UTC).astimezone().isoformat(timespec="seconds")
    )
    format: int = FORMAT


def machine() -> Machine:
    """Look at the machine we run on."""
    usable = getattr(os, "sched_getaffinity", None)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Machine(
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cores=len(usable(0)) if usable else os.cpu_count() or 1,
        load=load,
    )


def as_json(result: Result) -> str:
    """The whole result as indented JSON; paths are texts."""
    encoded = msgspec.json.encode(result, enc_hook=str)
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a report; missing folders are made.

    Raises:
        SetupError: The place can't be written; the message names it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SetupError(f"can't write {path}: {error.strerror or error}") from error
    sys.stderr.write(f"written to {path}\n")
