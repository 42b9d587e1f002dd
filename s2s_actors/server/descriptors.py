"""File descriptors: a connection is one, and a process may have only so many."""

from __future__ import annotations

import logging
import sys
from typing import Final

from s2s_actors.server.crowd import MOST_TURNED_AWAY

if sys.platform != "win32":
    import resource

__all__ = ["room_for"]

logger = logging.getLogger(__name__)

_OWN: Final = 256
"""What the process itself has open (libraries, models, the loop, its log), and the connections to
the port for plain HTTP, which has a limit of its own."""
_LEAST: Final = 8


def room_for(connections: int, units: int) -> int:
    """How many connections there may be; the process's limit is raised for them where it can be.

    Args:
        connections: How many are wanted.
        units: Each may need one more, for a remote language model.
    """
    if sys.platform == "win32":
        return connections
    others = _OWN + units + MOST_TURNED_AWAY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + others
    if soft == resource.RLIM_INFINITY or wanted <= soft:
        return connections
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    if raised == wanted:
        return connections
    fit = max(_LEAST, raised - others)
    logger.warning(
        "there may be %d connections, not %d: the process may open %d files (ulimit -n)",
        fit,
        connections,
        raised,
    )
    return fit
