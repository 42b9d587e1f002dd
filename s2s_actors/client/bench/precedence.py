"""Precedence over other processes, for a client that shares a machine with the server.

A microphone and a caller on another machine do not wait until the server's models have done
with a processor, so neither should the clients that stand for them. They use little. Where the
system does not grant it (Linux does to root), nothing changes, and lateness shows it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["precedence"]


@contextmanager
def precedence() -> Iterator[None]:
    """Let this thread go first while the block runs; processes that it starts do not inherit it."""
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, *before)
