"""Audio as the protocol carries it: 16-bit little-endian mono PCM at 24 kHz, in base64."""

from __future__ import annotations

import base64
import binascii

from s2s_actors.errors import ClientError

WIRE_RATE_HZ = 24_000
BYTES_PER_SAMPLE = 2
BYTES_PER_MS = WIRE_RATE_HZ * BYTES_PER_SAMPLE // 1000
MAX_APPEND_BYTES = 15 * 1024 * 1024
"""Largest append, decoded (the limit that OpenAI documents for one event)."""
DELTA_MS = 250
"""Longest piece of audio in one delta: small enough to start playing soon."""


def duration_ms(size_bytes: int) -> int:
    """How long so many bytes play, in whole milliseconds."""
    return size_bytes // BYTES_PER_MS


def size_bytes(length_ms: int) -> int:
    """How many bytes play for so long."""
    return length_ms * BYTES_PER_MS


def decode_append(text: str, *, param: str = "audio") -> bytes:
    """Decode the ``audio`` field of an append, or that of a content part.

    Raises:
        ClientError: Not base64, or larger than :data:`MAX_APPEND_BYTES`.
    """
    if len(text) > (MAX_APPEND_BYTES + 2) // 3 * 4:
        raise ClientError(
            "string_above_max_length",
            f"Invalid '{param}': at most {MAX_APPEND_BYTES} bytes of audio fit in there.",
            param=param,
        )
    if not text:
        raise ClientError("invalid_value", f"Invalid '{param}': it is empty.", param=param)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ClientError(
            "invalid_value", f"Invalid '{param}': it is not valid base64.", param=param
        ) from None


def encode(pcm: bytes) -> str:
    """Audio as the protocol carries it."""
    return base64.b64encode(pcm).decode("ascii")


def deltas(data: bytes, bytes_per_ms: int = BYTES_PER_MS) -> list[bytes]:
    """Cut audio into pieces of at most :data:`DELTA_MS`."""
    step = DELTA_MS * bytes_per_ms
    return [data[start : start + step] for start in range(0, len(data), step)]
