"""Every test leaves no actor registered and no thread alive."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pykka
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

PATIENCE_S = 3.0
PATIENCE_WITH_WEDGED_S = 0.3


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "leaves_wedged_thread: abandons an actor whose thread ends only later"
    )


@pytest.fixture(autouse=True)
def nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves an actor or a thread behind."""
    wedged = request.node.get_closest_marker("leaves_wedged_thread") is not None
    before = set(threading.enumerate())
    yield
    deadline_s = time.monotonic() + (PATIENCE_WITH_WEDGED_S if wedged else PATIENCE_S)
    # Anew each time: a thread that is on its way out, or still coming up, may start others.
    while (young := set(threading.enumerate()) - before) and time.monotonic() < deadline_s:
        thread = young.pop()
        if thread.ident is None:
            time.sleep(0.001)  # it can't be joined before it runs
        else:
            thread.join(max(0.0, deadline_s - time.monotonic()))
    alive = sorted(thread.name for thread in set(threading.enumerate()) - before)
    actors = pykka.ActorRegistry.get_all()
    for ref in actors:  # so that only the test at fault fails
        ref.stop(block=False)
    if actors or (alive and not wedged):
        pytest.fail(f"left behind: actors {[str(ref) for ref in actors]}, threads {alive}")
