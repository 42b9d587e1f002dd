"""Folds the events of a conversation into lines that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.client.audio_file import duration_ms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.client.record import Event

__all__ = ["Line", "fold", "printable"]


@dataclass(slots=True)
class Line:
    """One event, or all deltas of one kind that belong to one response or item.

    Attributes:
        type: The event's ``type``.
        first_ms: Arrival of the first of them.
        last_ms: Arrival of the last of them.
        count: How many there were.
        text: What the event says, pieces of text joined.
        audio_bytes: Bytes of 24 kHz PCM in them.
    """

    type: str
    first_ms: float
    last_ms: float
    count: int
    text: str
    audio_bytes: int

    @property
    def detail(self) -> str:
        """What is worth showing beside the type."""
        if self.audio_bytes:
            return f"{duration_ms(bytes(self.audio_bytes)) / 1000:.1f} s of audio"
        return printable(self.text)


def fold(events: Iterable[Event]) -> list[Line]:
    """Lines in the order of their first event; deltas of one kind and answer become one."""
    lines: list[Line] = []
    open_deltas: dict[tuple[str, str, str], Line] = {}
    for event in events:
        key = (event.type, event.text("response_id"), event.text("item_id"))
        line = open_deltas.get(key)
        if line is None:
            line = Line(event.type, event.at_ms, event.at_ms, 0, "", 0)
            lines.append(line)
            if event.type.endswith(".delta"):
                open_deltas[key] = line
        line.last_ms = event.at_ms
        line.count += 1
        line.text += _said(event)
        line.audio_bytes += len(event.audio)
    return lines


def printable(text: str) -> str:
    """One line without control characters: a server's text must not steer the terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _said(event: Event) -> str:
    match event.type:
        case "session.created":
            said = event.text("session", "model")
        case "error":
            said = f"{event.text('error', 'code')}: {event.text('error', 'message')}"
        case "response.done":
            reason = event.text("response", "status_details", "reason")
            failure = event.text("response", "status_details", "error", "message")
            said = ": ".join(filter(None, (event.text("response", "status"), reason, failure)))
        case "conversation.item.added" | "conversation.item.done":
            said = event.text("item", "role") or event.text("item", "type")
        case kind if kind.endswith(".failed"):
            said = event.text("error", "message")
        case _:
            said = event.text("delta") or event.text("transcript") or event.text("text")
    return said
