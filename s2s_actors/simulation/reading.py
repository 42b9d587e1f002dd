"""What a client makes of the events that it was sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Event", "FunctionCall", "answers_in", "calls_in", "heard_in"]

Event: TypeAlias = "dict[str, Any]"
"""An event as JSON has it."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A tool that the model wants to be called; ``arguments`` are decoded."""

    call_id: str
    name: str
    arguments: dict[str, Any]


def answers_in(events: Iterable[Event]) -> list[str]:
    """What the assistant said or wrote, a text for each response that has any."""
    done = (event["response"] for event in events if event["type"] == "response.done")
    texts = ("".join(_texts(response["output"])) for response in done)
    return [text for text in texts if text]


def heard_in(events: Iterable[Event]) -> list[str]:
    """The final transcripts of what the user said."""
    done = "conversation.item.input_audio_transcription.completed"
    return [event["transcript"] for event in events if event["type"] == done]


def calls_in(event: Event) -> list[FunctionCall]:
    """The calls that an event asks for: those of a response that was completed."""
    if event["type"] != "response.done" or event["response"]["status"] != "completed":
        return []
    return [
        FunctionCall(item["call_id"], item["name"], json.loads(item["arguments"] or "{}"))
        for item in event["response"]["output"]
        if item["type"] == "function_call"
    ]


def _texts(output: list[Event]) -> Iterator[str]:
    for item in output:
        for part in item.get("content", ()):
            yield part.get("text") or part.get("transcript") or ""
