"""How many processor cores this process may use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores that the process is allowed to run on; at least one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
