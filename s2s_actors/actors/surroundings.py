"""What the actors of a process have around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s_actors.actors.board import Board
    from s2s_actors.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where actors publish, and where they get the time from."""

    board: Board
    clock: Clock
