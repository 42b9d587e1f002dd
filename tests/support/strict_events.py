"""The strict validation of the conformance suite, for all other tests.

The suite is for any server. What this server has of its own, and sends only to sessions that
include it, is checked here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from s2s_actors.protocol.server_events import QueuePosition, TurnWaterfall
from tests.conformance.realtime_conformance import strict_events
from tests.conformance.realtime_conformance.strict_events import (
    EXTRA_FIELDS,
    FREE_FORM,
    NOT_OVER_WEBSOCKET,
    NULLS,
    _adapters,
)

__all__ = [
    "EXTRA_FIELDS",
    "FREE_FORM",
    "INCLUDED_EVENTS",
    "NOT_OVER_WEBSOCKET",
    "NULLS",
    "OWN_EVENTS",
    "_adapters",
    "validate",
]

INCLUDED_EVENTS = frozenset({"turn.waterfall"})
"""Those of our own events that a session includes."""

OWN_EVENTS = INCLUDED_EVENTS | {"queue.position"}
"""Types of events that stock clients do not know."""


def validate(event: dict[str, Any]) -> None:
    """Check one server event.

    Raises:
        AssertionError: The event would not get through every stock client, or it is of our
            own and has not its shape.
    """
    if event.get("type") in OWN_EVENTS:
        read = _validate_own(event)
        if isinstance(read, TurnWaterfall):
            steps = sum(step.ms for step in read.steps)
            assert steps == read.total_ms, f"it does not add up: {event}"
    else:
        strict_events.validate(_without_own_include(event))


def _validate_own(event: dict[str, Any]) -> QueuePosition | TurnWaterfall:
    try:
        read = msgspec.convert(event, QueuePosition | TurnWaterfall, strict=True)
    except msgspec.ValidationError as error:
        raise AssertionError(f"{error}\nin {event}") from None
    assert msgspec.json.decode(msgspec.json.encode(read)) == event, f"unknown fields in {event}"
    return read


def _without_own_include(event: dict[str, Any]) -> dict[str, Any]:
    session = event.get("session")
    if not isinstance(session, dict) or not isinstance(session.get("include"), list):
        return event
    include = [name for name in session["include"] if name not in INCLUDED_EVENTS]
    return event | {"session": session | {"include": include}}
