"""A conversation by microphone and speaker, until the user or the server ends it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from s2s_actors.client.connection import connected, session_update
from s2s_actors.client.conversation import append, configure
from s2s_actors.client.record import AUDIO_DELTA, Closed, Record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from s2s_actors.client.connection import Connection
    from s2s_actors.client.playback import Heard, Playback
    from s2s_actors.client.record import Event

__all__ = ["AudioDevice", "converse_live"]


class AudioDevice(Protocol):
    """Ears and mouth of the user."""

    @property
    def playback(self) -> Playback:
        """What the user hears."""
        ...

    def frames(self) -> AsyncIterator[bytes]:
        """What the user says, in pieces of 24 kHz PCM, as it is said."""
        ...


async def converse_live(  # noqa: PLR0913 - all of it differs in tests
    url: str,
    device: AudioDevice,
    record: Record,
    on_event: Callable[[Event], None],
    *,
    instructions: str | None = None,
    timeout_s: float = 30.0,
) -> None:
    """Talk until the connection ends or this task is cancelled.

    When the server hears the user speak, playback stops at once and the server is told how
    much of the answer was heard.

    Args:
        url: The server.
        device: Microphone and speaker.
        record: Takes every event, also when this task is cancelled.
        on_event: Called with every event, to show it.
        instructions: System prompt, None for the server's own.
        timeout_s: Longest wait for the connection, the session and its settings.

    Raises:
        SetupError: No Realtime server answers at ``url``.
        CapacityError: It has no unit for this session.
    """
    async with connected(url, timeout_s=timeout_s) as connection:
        await configure(connection, record, session_update(instructions), timeout_s)
        connection.start_clock()
        if record.closed is not None or record.gave_up_after_s is not None:
            return
        speaker = asyncio.create_task(_speak(connection, device))
        try:
            while not isinstance(event := await connection.receive(), Closed):
                record.events.append(event)
                await _react(connection, device.playback, event)
                on_event(event)
            record.closed = event
        finally:
            speaker.cancel()
            await asyncio.gather(speaker, return_exceptions=True)


async def _speak(connection: Connection, device: AudioDevice) -> None:
    async for frame in device.frames():
        await connection.send(append(frame))


async def _react(connection: Connection, playback: Playback, event: Event) -> None:
    if event.type == AUDIO_DELTA:
        playback.put(event.text("item_id"), event.audio)
    elif event.type == "input_audio_buffer.speech_started":
        heard = playback.interrupt()
        if heard is not None:
            await connection.send(_truncate(heard))


def _truncate(heard: Heard) -> dict[str, object]:
    return {
        "type": "conversation.item.truncate",
        "item_id": heard.item_id,
        "content_index": 0,
        "audio_end_ms": heard.audio_end_ms,
    }
