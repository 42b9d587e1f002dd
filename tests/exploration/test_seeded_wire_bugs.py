"""Bugs of connections, put in on purpose: the exploration finds them too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.server import connection, writing
from s2s_actors.server.connection import Connection
from s2s_actors.server.intake import Intake
from s2s_actors.server.limits import Visit
from s2s_actors.server.outbox import Farewell, Outbox
from s2s_actors.server.peer import PeerConnection
from tests.exploration.finding import find_by

if TYPE_CHECKING:
    from s2s_actors.server.writing import Written

_release = Connection._release


def _only_if_the_chart_says_so(self: Connection, reason: str) -> None:
    if reason != "connection_failed":
        _release(self, reason)


async def _farewell_first(self: Outbox) -> bytes | Farewell:
    return self._farewell or await _next(self)


_next = Outbox.next


def _go_on_talking(self: PeerConnection) -> None:
    _leave(self)
    self.transport.write(b"\x81\x02{}")


_leave = PeerConnection._leave


def _stumble(*_anything: object) -> None:
    raise RuntimeError("a bug")


def _never_end(self: Visit) -> None:
    del self


async def _without_deadline(ws: Any, outbox: Any, timeout_s: float, log: Any) -> Written:
    del timeout_s
    no_deadline: Any = None
    return await _write_events(ws, outbox, no_deadline, log)


_write_events = writing.write_events

BUGS: dict[str, tuple[object, str, Any, str, str]] = {
    # What is patched, with what, which accident brings it to light, and what is broken then.
    "a unit comes back only if the chart says so": (
        *(Connection, "_release", _only_if_the_chart_says_so),
        *("leave", "has given back 0 times instead of 1"),
    ),
    "a farewell overtakes what is queued": (
        *(Outbox, "next", _farewell_first),
        *("time", "was refused, and was sent "),
    ),
    "a session counts for its key for ever": (
        *(Visit, "end", _never_end),
        *("leave", "still counts for its key"),
    ),
    "a connection stumbles over what a client sends": (
        *(Intake, "take", _stumble),
        *("rubbish", "a fails by itself"),
    ),
    "a connection stumbles on its way out": (
        *(Outbox, "discard", _stumble),
        *("leave", "a fails with RuntimeError"),
    ),
    "something is said behind the close frame": (
        *(PeerConnection, "_leave", _go_on_talking),
        *("leave", "was sent TEXT after the close frame"),
    ),
    "writing has no deadline": (
        *(connection, "write_events", _without_deadline),
        *("freeze", "the connection of a ends up"),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_a_connection_is_found_and_its_trace_shows_it(
    bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name, instead, accident, broken = BUGS[bug]
    scenario = "one-too-many" if accident == "time" else "connected"
    monkeypatch.setattr(owner, name, instead)
    find_by(accident, scenario, broken)
