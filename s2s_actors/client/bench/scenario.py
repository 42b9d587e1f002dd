"""What a scenario is: how its sessions are set up, and what one trial does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from s2s_actors.client.bench.options import ScenarioName
    from s2s_actors.client.bench.rows import Place, Row
    from s2s_actors.client.bench.session import Session

__all__ = ["Scenario", "Trial"]

Trial: TypeAlias = "Callable[[Session, Place, float], Awaitable[Row]]"
"""Does one trial in an open session, at that place, begun so many seconds into the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A kind of measurement.

    Attributes:
        name: As on the command line.
        rounds: Trials of each session.
        trial: Does trial ``place.number`` of session ``place.session``.
        instructions: System prompt of its sessions.
        begins_s: When in its round a trial begins; None spreads them over a second.
        script: What a scripted language model does in them.
    """

    name: ScenarioName
    rounds: int
    trial: Trial
    instructions: str
    script: Mapping[str, object] = field(default_factory=dict)
    begins_s: Callable[[Place], float] | None = None
