"""What a conversation leaves behind: every event with its time, nothing interpreted."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Closed", "Event", "Record", "parse_event"]

AUDIO_DELTA: Final = "response.output_audio.delta"


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it arrived. Its fields are read leniently: a wrong type counts as absent.

    Attributes:
        at_ms: Arrival, from the moment the user's audio begins; negative before that.
        type: The event's ``type``.
        fields: The event as the server sent it, without the audio.
        audio: Answer audio of ``response.output_audio.delta`` (24 kHz PCM).
    """

    at_ms: float
    type: str
    fields: Mapping[str, object] = field(default_factory=dict)
    audio: bytes = b""

    def text(self, *path: str) -> str:
        """The string at ``path``; empty where there is none."""
        value = self._at(path)
        return value if isinstance(value, str) else ""

    def _at(self, path: tuple[str, ...]) -> object:
        value: object = self.fields
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value


@dataclass(frozen=True, slots=True)
class Closed:
    """The server ended the connection: close code (1006 without a close frame) and reason."""

    code: int
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.reason}".strip()


@dataclass(slots=True)
class Record:
    """One conversation as the client saw it.

    Attributes:
        events: In order of arrival.
        speech_ms: Stretches of speech in the user's audio, ``(start_ms, end_ms)``.
        closed: How the server ended the connection, None if the client did.
        gave_up_after_s: How long nothing had happened when the client gave up, else None.
    """

    events: list[Event] = field(default_factory=list)
    speech_ms: list[tuple[int, int]] = field(default_factory=list)
    closed: Closed | None = None
    gave_up_after_s: float | None = None

    def answer_pcm(self) -> bytes:
        """The audio of all answers, one after the other (24 kHz PCM)."""
        return b"".join(event.audio for event in self.events)


def parse_event(frame: str | bytes, at_ms: float) -> Event:
    """Read one frame from a server.

    Raises:
        SetupError: That is not what a Realtime server sends.
    """
    try:
        fields = json.loads(frame)
        kind = fields["type"]
        if kind != AUDIO_DELTA:
            return Event(at_ms, str(kind), fields)
        audio = base64.b64decode(fields.pop("delta"), validate=True)
    except (ValueError, TypeError, LookupError, AttributeError, binascii.Error) as error:
        shown = frame[:80] if isinstance(frame, str) else f"{len(frame)} bytes of binary"
        raise SetupError(f"this is no Realtime server: it sent {shown!r}") from error
    return Event(at_ms, kind, fields, audio)
