"""What goes on while the accidents happen: who comes to how many units, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from s2s_actors.protocol import client_events as ce
from s2s_actors.simulation.sounds import append, loud, silent, text_item

Deed = tuple[str, str]
"""A client and what it does: ``claim``, ``leave``, or something to say from :data:`SAYINGS`."""

SAYINGS: Final[dict[str, tuple[ce.ClientEvent, ...]]] = {
    "ask": (text_item("hello"), ce.ResponseCreate()),
    "utter": (append(silent(64) + loud(160) + silent(600)),),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """The part of a world that goes right.

    Attributes:
        units: How many there are; one more client may wait.
        script: What the clients do, in this order: each deed when nothing else goes on, or
            earlier, if the budget allows that.
        sessions: How many they may have together, if they have real connections to a whole
            server; None for clients without connections.
        outbox_events: How many events may wait for a client with a connection.
    """

    units: int
    script: tuple[Deed, ...]
    sessions: int | None = None
    outbox_events: int = 1000


def _script(text: str) -> tuple[Deed, ...]:
    words = text.split()
    return tuple(zip(words[::2], words[1::2], strict=True))


SCENARIOS: Final = {
    "one-after-the-other": Scenario(1, _script("a claim  a ask  b claim  a leave  b ask  b leave")),
    "side-by-side": Scenario(2, _script("a claim  b claim  a ask  b ask  a leave  b leave")),
    "in-speech": Scenario(1, _script("a claim  b claim  a utter  a leave  b utter  b leave")),
    "hardly-there": Scenario(1, _script("a claim  b claim  a leave  b leave")),
    # On a whole server; the one unit is claimed and waited for, or is there for both, but the
    # key isn't; or there is one client, which is answered.
    "connected": Scenario(1, _script("a claim  b claim  a leave  b leave"), sessions=2),
    "one-too-many": Scenario(2, _script("a claim  b claim  a leave"), sessions=1),
    "connected-and-served": Scenario(1, _script("a claim  a ask  a leave"), sessions=2),
    "not-read-in-time": Scenario(
        1, _script("a claim  a ask  a leave"), sessions=2, outbox_events=3
    ),
}
