"""Server events against the official client's types, more strictly than that client does.

The official types ignore fields that they do not know and take null for nearly every field;
stock clients in other languages do not. So: no unknown field and no null, except those that
are listed here, each with its reason.
"""

from __future__ import annotations

import base64
import binascii
import functools
import json
from typing import TYPE_CHECKING, Any, get_args

from openai.types.realtime import RealtimeServerEvent
from pydantic import BaseModel, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_OVER_WEBSOCKET = frozenset(
    {
        "conversation.item.created",  # beta: item.added and item.done have replaced it
        "output_audio_buffer.started",
        "output_audio_buffer.stopped",
        "output_audio_buffer.cleared",
        "input_audio_buffer.dtmf_event_received",
    }
)
"""Typed by the official client, but only for other transports or the retired beta."""

EXTRA_FIELDS = frozenset(
    {
        # The real service sends them; the classes lack them.
        "session.id",
        "session.object",
        "session.expires_at",
        "session.tools[].strict",
    }
)
"""Fields that the official classes do not know and a server may send all the same."""

NULLS = frozenset(
    {
        "previous_item_id",  # the first item of a conversation
        "error.code",
        "error.param",
        "error.event_id",
        "response.status_details",
        "response.conversation_id",
        "response.usage",
        "response.metadata",
        "session.tracing",
        "session.prompt",
        "session.prompt.version",
        "session.prompt.variables",
        "session.include",
        "session.tools[].strict",
        "session.audio.input.transcription",
        "session.audio.input.noise_reduction",
        "session.audio.input.turn_detection",
        "session.audio.input.turn_detection.idle_timeout_ms",
        "item.content[].transcript",  # a user's words until they are known
        "item.output",  # of an MCP call that has none; a stock client crashes without the key
        "response.output[].output",
    }
)
"""Where null is part of the protocol."""

FREE_FORM = (
    "session.tools[].parameters",
    "session.prompt.variables",
    "session.tracing.metadata",
    "response.metadata",
    "item.tools[].input_schema",
    "item.tools[].annotations",
)
"""Whatever the client put there comes back."""


def validate(event: dict[str, Any]) -> None:
    """Check one server event.

    Raises:
        AssertionError: The event would not get through every stock client.
    """
    kind = event.get("type")
    assert isinstance(kind, str), f"no type: {_shown(event)}"
    assert kind not in NOT_OVER_WEBSOCKET, f"{kind} does not belong on a plain websocket"
    assert kind in _adapters(), f"unknown server event {kind!r}"
    try:
        model = _adapters()[kind].validate_python(event, strict=True)
    except ValidationError as error:
        raise AssertionError(f"{error}\nin {_shown(event)}") from None
    problems = [*_extras(model, ""), *_nulls(event, ""), *_quirks(event)]
    assert not problems, f"{'; '.join(problems)}\nin {_shown(event)}"


@functools.cache
def _adapters() -> dict[str, TypeAdapter[Any]]:
    """By type, so that a broken event can't pass as an event of another type."""
    classes = get_args(get_args(RealtimeServerEvent)[0])
    return {
        get_args(event_class.model_fields["type"].annotation)[0]: TypeAdapter(event_class)
        for event_class in classes
    }


def _extras(value: Any, path: str) -> Iterator[str]:
    if any(path == free for free in FREE_FORM):
        return
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            here = f"{path}.{name}" if path else name
            if here not in EXTRA_FIELDS:
                yield f"unknown field {here}"
        for name in value.model_fields_set & set(type(value).model_fields):
            yield from _extras(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for entry in value:
            yield from _extras(entry, f"{path}[]")


def _nulls(value: Any, path: str) -> Iterator[str]:
    if any(path == free for free in FREE_FORM) and value is not None:
        return
    if value is None and path not in NULLS:
        yield f"null in {path}"
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _nulls(entry, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for entry in value:
            yield from _nulls(entry, f"{path}[]")


def _quirks(event: dict[str, Any]) -> Iterator[str]:
    """What makes stock JavaScript clients crash or drop the event."""
    if not event.get("event_id"):
        yield "no event_id"
    response = event.get("response") or {}
    items = [event["item"]] if "item" in event else response.get("output", [])
    for item in items:
        yield from _item_quirks(event["type"], item)
    if response and not isinstance(response["audio"]["output"]["voice"], str):
        yield "response.audio.output.voice is not a string"
    if event["type"] == "response.output_audio.delta":
        yield from _audio_quirks(event["delta"])
    usage = event.get("usage") or {}
    if usage.get("type") == "tokens" and "input_token_details" not in usage:
        yield "usage in tokens has no input_token_details"


def _item_quirks(kind: str, item: dict[str, Any]) -> Iterator[str]:
    if not 0 < len(item.get("id", "")) <= 32:
        yield "item.id must have 1 to 32 characters"
    for part in item["content"] if item.get("type") == "message" else ():
        yield from _part_quirks(part)
        if "audio" in part and kind != "conversation.item.retrieved":
            yield "audio outside of conversation.item.retrieved"


def _part_quirks(part: dict[str, Any]) -> Iterator[str]:
    if part["type"] == "input_audio" and "transcript" not in part:
        yield "input_audio part has no transcript key"
    if part["type"] in ("input_text", "output_text") and "text" not in part:
        yield f"{part['type']} part has no text"
    if part["type"] == "output_audio" and part.get("transcript", "") is None:
        yield "output_audio transcript is null"


def _audio_quirks(delta: str) -> Iterator[str]:
    try:
        data = base64.b64decode(delta, validate=True)
    except binascii.Error:
        yield "audio delta is not base64"
        return
    if not data:
        yield "audio delta is empty"


def _shown(event: dict[str, Any]) -> str:
    return json.dumps(event)[:1500]
