"""How long the audio is that a client sends, told from its events alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from s2s_actors.protocol.client_events import (
    AudioAppend,
    ItemCreate,
    ResponseCreate,
    SessionUpdate,
)
from s2s_actors.protocol.items import InputAudio, Message
from s2s_actors.protocol.response import ResponseParams

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.protocol.items import ContentPart

__all__ = ["AudioMeter"]

_PCM_BYTES_PER_S: Final = 48_000
_G711_BYTES_PER_S: Final = 8_000
_G711: Final = frozenset({"audio/pcmu", "audio/pcma"})


class AudioMeter:
    """Knows a session's format of audio well enough to count its audio.

    Promises: audio is never taken for shorter than it is. A session that has once asked for
    G.711 is measured as if all of its audio were G.711 from then on: whether a change of format
    was accepted is decided elsewhere and later, and nobody shall get six minutes for one
    by asking for changes that are refused.

    Args:
        settings: What the session begins with, as in ``session.update``; None for the defaults.
    """

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self._bytes_per_s = _PCM_BYTES_PER_S
        self._take(settings or {})

    def length_s(self, event: ClientEvent) -> float:
        """Seconds of audio in an event; 0 in most."""
        match event:
            case AudioAppend(audio=audio):
                return self._seconds(len(audio))
            case ItemCreate(item=Message(content=parts)):
                return self._seconds(_audio_in(parts))
            case ResponseCreate(response=ResponseParams(input=list(items))):
                messages = (item for item in items if isinstance(item, Message))
                return self._seconds(sum(_audio_in(each.content) for each in messages))
            case SessionUpdate(session=session):
                self._take(session)
        return 0.0

    def _take(self, settings: dict[str, Any]) -> None:
        if _format_of(settings) in _G711:
            self._bytes_per_s = _G711_BYTES_PER_S

    def _seconds(self, base64_chars: int) -> float:
        return base64_chars * 3 / 4 / self._bytes_per_s


def _audio_in(parts: Iterable[ContentPart]) -> int:
    """Characters of base64 in the parts of a message."""
    return sum(len(part.audio or "") for part in parts if isinstance(part, InputAudio))


def _format_of(session: dict[str, Any]) -> object:
    """The input format that an update asks for, None if it leaves it; it may hold anything."""
    found: object = session
    for name in ("audio", "input", "format", "type"):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found if isinstance(found, str) else None
