"""Thousands of clients that leave at any moment leave nothing behind.

``CYCLES`` and ``CYCLES_SEED`` in the environment make the run longer or another one
(``make cycles N=10000``).
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from tests.soak.cycles import BATCH, Cycles
from tests.soak.serving import SoakedServer

if TYPE_CHECKING:
    from pathlib import Path

COUNT = int(os.environ.get("CYCLES", "440"))
SEED = int(os.environ.get("CYCLES_SEED", "1"))
UNITS = 12
PING_S = 0.5
WARM_UP = 5 * BATCH
"""By then each unit has seen most of what there is, and no cache grows any more."""
S_PER_CYCLE = 0.5
"""How long one may take on a machine that is busy with other things."""


@pytest.mark.timeout(60 + COUNT * S_PER_CYCLE)
def test_clients_that_leave_at_any_moment_leave_nothing_behind(tmp_path: Path) -> None:
    with SoakedServer(tmp_path / "server.log", units=UNITS, ping_s=PING_S) as server:
        cycles = Cycles(server, seed=SEED, at_once=UNITS - 1)
        asyncio.run(cycles.run(COUNT))
        if COUNT >= WARM_UP + 6 * BATCH:
            cycles.course.check(caches=max(0.25, WARM_UP / COUNT))
    assert server.complaints() == []
    assert server.replacements() == []
    assert server.exit_code == 0
