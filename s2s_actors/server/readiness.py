"""Whether the server takes sessions: one answer for ``/ready`` and for the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.actors.board import Board, UnitSnapshot
    from s2s_actors.actors.health import Health, LoadReport

__all__ = ["Readiness", "in_use", "readiness"]


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether it does, and why not.

    Attributes:
        is_ready: Whether a client is well advised to come.
        state: That of the server's chart; ``draining`` as soon as it was asked to stop.
        failing: Backends, by stage, because of which nobody may come in.
        is_admitting: Whether the machine keeps up.
        load: How far it is behind.
    """

    is_ready: bool
    state: str
    failing: tuple[str, ...]
    is_admitting: bool
    load: LoadReport


def readiness(board: Board, health: Health, *, is_draining: bool) -> Readiness:
    """Look at what is published.

    Args:
        board: Where the actors publish.
        health: How far the process is behind.
        is_draining: Whether the server has been asked to stop, which the board may not know yet.
    """
    pool, units, load = board.pool(), board.units(), health.read()
    state = "draining" if is_draining else pool.server_state
    usable = any(unit.state != "quarantined" for unit in units)
    admitting = load.admits(in_use(units))
    is_ready = state == "serving" and usable and admitting and not pool.failing
    return Readiness(is_ready, state, pool.failing, admitting, load)


def in_use(units: Iterable[UnitSnapshot]) -> int:
    """How many units are not idle."""
    return sum(unit.state != "idle" for unit in units)
