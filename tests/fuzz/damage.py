"""What can be done to an event so that it is none any more, or an odd one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hypothesis import strategies as st

from tests.fuzz.events import JSON, client_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.events import Event

__all__ = ["frames"]

Path: TypeAlias = tuple[str | int, ...]

_HUGE: Final = (10**30, -(10**30), 2**63, -(2**63) - 1, 1e308, -1, 0)
_ODD_TEXTS: Final = (
    "\u0000",
    "\u202e\u0301\ufeff",
    "\U0010ffff" * 9,
    "'; --",
    "a" * 600,
    "#script {",
    '#script {"answers":[5]}',
    "=" * 5,
)
_DEEP: Final = 150
_MOST: Final = 3


@st.composite
def frames(draw: st.DrawFn) -> str:
    """Text of a frame: most often an event, damaged in up to three places."""
    kind = draw(st.sampled_from(["event", "event", "event", "damaged", "damaged", "any", "text"]))
    if kind == "text":
        return draw(st.text(max_size=60))
    if kind == "any":
        return json.dumps(draw(JSON))
    event: Event = draw(client_events())
    if draw(st.integers(0, 9)):
        event["event_id"] = draw(st.uuids()).hex
    for _ in range(draw(st.integers(1, _MOST)) if kind == "damaged" else 0):
        event = _damaged(draw, event)
    text = json.dumps(event, ensure_ascii=draw(st.booleans()))
    if kind == "damaged" and draw(st.integers(0, 9)) == 0:
        text = text[: draw(st.integers(0, len(text)))]
    # A lone surrogate can't be sent in a text frame: the client's own library refuses it.
    return text.encode(errors="replace").decode()


def _damaged(draw: st.DrawFn, event: Event) -> Event:
    """The event with one thing wrong, or merely odd."""
    event = copy.deepcopy(event)
    paths = list(_paths(event, ()))
    path = draw(st.sampled_from(paths)) if paths else ("type",)
    holder: Any = event
    for step in path[:-1]:
        holder = holder[step]
    match draw(st.sampled_from(["other", "huge", "text", "missing", "deep", "unknown"])):
        case "missing" if paths:
            del holder[path[-1]]
        case "unknown" if isinstance(holder, dict):
            holder[draw(st.text(max_size=8))] = draw(JSON)
        case "huge":
            holder[path[-1]] = draw(st.sampled_from(_HUGE))
        case "text":
            holder[path[-1]] = draw(st.sampled_from(_ODD_TEXTS))
        case "deep":
            holder[path[-1]] = _nested(draw(st.booleans()))
        case _:
            holder[path[-1]] = draw(JSON)
    return event


def _nested(as_lists: bool) -> Any:
    value: Any = []
    for _ in range(_DEEP):
        value = [value] if as_lists else {"a": value}
    return value


def _paths(value: Any, path: Path) -> Iterator[Path]:
    """Every place in an event; of nested ones not the deepest."""
    steps: Any = ()
    if isinstance(value, dict):
        steps = value.items()
    elif isinstance(value, list):
        steps = enumerate(value)
    for step, inner in steps:
        yield (*path, step)
        if len(path) < 6:
            yield from _paths(inner, (*path, step))
