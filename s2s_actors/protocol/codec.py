"""Between text frames and structs."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.client_events import ClientEvent
from s2s_actors.protocol.server_events import ServerEvent
from s2s_actors.protocol.validation import convert

_decoder: msgspec.json.Decoder[ClientEvent] = msgspec.json.Decoder(ClientEvent)
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Only now is it worth to find out exactly what is wrong.
        return _diagnose(raw)


def _diagnose(raw: str | bytes) -> ClientEvent:
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ClientError("invalid_json", f"The event is not valid JSON: {error}.") from None
    if not isinstance(data, dict):
        raise ClientError("invalid_value", "The event must be a JSON object.")
    event_id = data.get("event_id")
    try:
        return _convert(data)
    except ClientError as error:
        error.event_id = event_id if isinstance(event_id, str) and len(event_id) <= 512 else None
        raise


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


def with_event_id(error: ClientError, event: ClientEvent) -> ClientError:
    """The same error, naming the event that it answers."""
    error.event_id = event.event_id
    return error
