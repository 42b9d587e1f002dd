"""A whole server without sockets and models, on a clock of its own: the same run each time.

Importing this costs nothing: the parts come when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s_actors.simulation.caller import Caller
    from s2s_actors.simulation.faults import Faults
    from s2s_actors.simulation.models import Agent
    from s2s_actors.simulation.world import Simulation

__all__ = ["Agent", "Caller", "Faults", "Simulation"]

_HOMES = {"Agent": "models", "Caller": "caller", "Faults": "faults", "Simulation": "world"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
