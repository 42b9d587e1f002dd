"""Between text frames and structs."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.client_events import ClientEvent, EventId
from s2s_actors.protocol.event_sizes import MAX_PLAIN_BYTES, check_size
from s2s_actors.protocol.server_events import ServerEvent
from s2s_actors.protocol.validation import convert, guarded


class _Head(msgspec.Struct):
    """The one thing that an answer to an event always needs of it."""

    event_id: EventId | None = None


_decoder: msgspec.json.Decoder[ClientEvent] = msgspec.json.Decoder(ClientEvent)
_head_decoder: msgspec.json.Decoder[_Head] = msgspec.json.Decoder(_Head)
_encoder = msgspec.json.Encoder()
_EVENTS: dict[str, type[msgspec.Struct]] = {
    str(event.__struct_config__.tag): event for event in get_args(ClientEvent)
}
_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(event) for kind, event in _EVENTS.items()
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
    if len(raw) > MAX_PLAIN_BYTES:
        return _decode_large(raw)
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Only now is it worth to find out exactly what is wrong.
        return _diagnose(raw)


def _decode_large(raw: str | bytes) -> ClientEvent:
    """Decode without ever making objects of what does not belong there."""
    try:
        data = raw.encode() if isinstance(raw, str) else raw
        kind = _known(check_size(data))
        event: ClientEvent = guarded(lambda: _decoders[kind].decode(data))
    except ClientError as error:
        error.event_id = _event_id(raw)
        raise
    except msgspec.ValidationError:
        raise _no_object(raw) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _no_json(raw, error) from None
    return event


def _diagnose(raw: str | bytes) -> ClientEvent:
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _no_json(raw, error) from None
    if not isinstance(data, dict):
        raise ClientError("invalid_value", "The event must be a JSON object.")
    try:
        return _convert(data)
    except ClientError as error:
        error.event_id = _event_id(raw)
        raise


def _no_object(raw: str | bytes) -> ClientError:
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)  # to the end, and nothing is made of it
    except (msgspec.DecodeError, RecursionError) as error:
        return _no_json(raw, error)
    return ClientError("invalid_value", "The event must be a JSON object.")


def _no_json(raw: str | bytes, error: Exception) -> ClientError:
    message = f"The event is not valid JSON: {error}."
    return ClientError("invalid_json", message, event_id=_event_id(raw))


def _event_id(raw: str | bytes) -> str | None:
    """The id of an event, whatever else is in it; None if it has none that can be echoed."""
    try:
        return _head_decoder.decode(raw).event_id
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _convert(data: dict[str, Any]) -> ClientEvent:
    event: ClientEvent = convert(data, _EVENTS[_known(data.get("type"))])
    return event


def _known(kind: object) -> str:
    """The type of an event.

    Raises:
        ClientError: There is none, or none that is known.
    """
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
    return kind
