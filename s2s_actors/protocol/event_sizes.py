"""How large an event of a client may be: looked at before anything of it is decoded.

What is decoded takes many times the memory of its text, and everybody's events are decoded on
one thread. Only audio, and items with their pictures, may be large; their fields are typed, so
nothing is made of them but what belongs there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.validation import MAX_SHOWN_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB: Final = 1024
MAX_PLAIN_BYTES: Final = 64 * KIB
"""Whatever is not named below; a smaller event can't be too large in any part."""
MAX_INSTRUCTIONS_BYTES: Final = 256 * KIB
"""As JSON: some 60,000 tokens, four times what OpenAI's models take."""
MAX_TOOLS_BYTES: Final = 1024 * KIB
"""All tools with their schemas, as JSON."""
MAX_SETTINGS_BYTES: Final = 2048 * KIB
"""A ``session.update``, or a ``response.create`` without its input."""

_NOTHING: Final = msgspec.Raw(b"")


class _Settings(msgspec.Struct):
    """The parts of a session or a response that may be large."""

    instructions: msgspec.Raw = _NOTHING
    tools: msgspec.Raw = _NOTHING
    input: msgspec.Raw = _NOTHING


class _Parts(msgspec.Struct):
    """An event, cut into its parts."""

    type: msgspec.Raw = msgspec.Raw(b"null")
    session: msgspec.Raw = _NOTHING
    response: msgspec.Raw = _NOTHING
    audio: msgspec.Raw = _NOTHING
    item: msgspec.Raw = _NOTHING


_parts_of = msgspec.json.Decoder(_Parts).decode
_settings_of = msgspec.json.Decoder(_Settings).decode
_LIMITED: Final[Mapping[str, int]] = {
    "instructions": MAX_INSTRUCTIONS_BYTES,
    "tools": MAX_TOOLS_BYTES,
}


def check_size(raw: bytes) -> object:
    """Refuse an event that is larger than its kind may be.

    Args:
        raw: The event, in UTF-8.

    Returns:
        Its ``type``, whatever that is; None if there is none.

    Raises:
        ClientError: It is too large, in a field that is named if there is one to blame.
        msgspec.DecodeError: It is not a JSON object.
        RecursionError: It is nested too deeply.
    """
    parts = _parts_of(raw)
    kind = msgspec.json.decode(parts.type) if len(parts.type) < KIB else None
    # What may be large is left out of what is counted.
    match kind:
        case "input_audio_buffer.append":
            _check_rest(kind, len(raw) - len(parts.audio), MAX_PLAIN_BYTES)
        case "conversation.item.create":
            _check_rest(kind, len(raw) - len(parts.item), MAX_PLAIN_BYTES)
        case "session.update":
            _check_settings(parts.session, "session")
            _check_rest(kind, len(raw), MAX_SETTINGS_BYTES)
        case "response.create":
            large_bytes = _check_settings(parts.response, "response")
            _check_rest(kind, len(raw) - large_bytes, MAX_SETTINGS_BYTES)
        case _:
            _check_rest(str(kind)[:MAX_SHOWN_CHARS], len(raw), MAX_PLAIN_BYTES)
    return kind


def _check_settings(raw: msgspec.Raw, path: str) -> int:
    """Check the parts of settings; returns the size of the input of a response."""
    if not bytes(raw).startswith(b"{"):
        return 0
    settings = _settings_of(raw)
    for name, limit_bytes in _LIMITED.items():
        size_bytes = len(getattr(settings, name))
        if size_bytes > limit_bytes:
            where = f"{path}.{name}"
            raise ClientError(
                "string_above_max_length",
                f"Invalid '{where}': it takes {size_bytes} bytes as JSON, and at most "
                f"{limit_bytes} are taken.",
                param=where,
            )
    return len(settings.input)


def _check_rest(kind: str, size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        raise ClientError(
            "string_above_max_length",
            f"The event is too large: without audio and items, '{kind}' takes {size_bytes} bytes, "
            f"and at most {limit_bytes} are taken.",
        )
