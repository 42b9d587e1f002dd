"""Between text frames and structs."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.client_events import ClientEvent, EventId
from s2s_actors.protocol.server_events import ServerEvent
from s2s_actors.protocol.validation import convert


class _Head(msgspec.Struct):
    """The one thing that an answer to an event always needs of it."""

    event_id: EventId | None = None


_decoder: msgspec.json.Decoder[ClientEvent] = msgspec.json.Decoder(ClientEvent)
_head_decoder: msgspec.json.Decoder[_Head] = msgspec.json.Decoder(_Head)
_encoder = msgspec.json.Encoder()
_EVENTS: dict[str, type[msgspec.Struct]] = {
    str(event.__struct_config__.tag): event for event in get_args(ClientEvent)
}


def encode(event: ServerEvent) -> bytes:
    """One server event as UTF-8 JSON."""
    return _encoder.encode(event)


def decode(raw: str | bytes) -> ClientEvent:
    """One client event.

    Raises:
        ClientError: With the code, the path of the field at fault and the client's
            ``event_id``, as far as they can be told.
    """
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Only now is it worth to find out exactly what is wrong.
        return _diagnose(raw)


def _diagnose(raw: str | bytes) -> ClientEvent:
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        message = f"The event is not valid JSON: {error}."
        raise ClientError("invalid_json", message, event_id=_event_id(raw)) from None
    if not isinstance(data, dict):
        raise ClientError("invalid_value", "The event must be a JSON object.")
    try:
        return _convert(data)
    except ClientError as error:
        error.event_id = _event_id(raw)
        raise


def _event_id(raw: str | bytes) -> str | None:
    """The id of an event, whatever else is in it; None if it has none that can be echoed."""
    try:
        return _head_decoder.decode(raw).event_id
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _convert(data: dict[str, Any]) -> ClientEvent:
    kind = data.get("type")
    if kind is None:
        raise ClientError(
            "missing_required_parameter", "Missing required parameter: 'type'.", param="type"
        )
    if not isinstance(kind, str):
        raise ClientError(
            "invalid_type", "Invalid type for 'type': expected a string.", param="type"
        )
    if kind not in _EVENTS:
        known = ", ".join(f"'{name}'" for name in _EVENTS)
        raise ClientError(
            "invalid_value",
            f"Invalid value: '{kind[:100]}'. Supported values are: {known}.",
            param="type",
        )
    event: ClientEvent = convert(data, _EVENTS[kind])
    return event
