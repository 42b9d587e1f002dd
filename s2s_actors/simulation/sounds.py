"""What clients send: texts, and sound that the fakes take for speech."""

from __future__ import annotations

import base64

import numpy as np

from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol.items import InputText, Message

__all__ = ["append", "loud", "silent", "text_item"]


def text_item(text: str) -> ce.ItemCreate:
    """Something that the user writes."""
    return ce.ItemCreate(item=Message(role="user", content=(InputText(text=text),)))


def append(pcm: bytes) -> ce.AudioAppend:
    """Something that the user says: PCM at 24 kHz."""
    return ce.AudioAppend(audio=base64.b64encode(pcm).decode())


def loud(length_ms: int) -> bytes:
    """What the fake takes for speech (24 kHz PCM)."""
    one_ms = np.repeat(np.array([9000, -9000], "<i2"), 12)
    return np.tile(one_ms, length_ms).tobytes()


def silent(length_ms: int) -> bytes:
    """Digital silence (24 kHz PCM)."""
    return bytes(48 * length_ms)
