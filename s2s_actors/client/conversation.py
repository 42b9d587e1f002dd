"""A conversation from recorded audio, streamed as a microphone would stream it."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from s2s_actors.client.audio_file import BYTES_PER_MS
from s2s_actors.client.connection import connected, session_update
from s2s_actors.client.progress import Progress
from s2s_actors.client.record import Closed, Record
from s2s_actors.client.speech import speech_regions_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.client.connection import Connection

__all__ = ["FRAME_MS", "append", "configure", "converse"]

FRAME_MS: Final = 20
_FRAME_BYTES: Final = FRAME_MS * BYTES_PER_MS
_SILENCE: Final = bytes(_FRAME_BYTES)


async def converse(
    url: str, pcm: bytes, *, instructions: str | None = None, timeout_s: float = 30.0
) -> Record:
    """Say ``pcm`` to a server and record everything until it is answered.

    After the audio silence goes on, as from a real microphone. All times count from the
    moment in which the first sample is spoken, so the time of an event is also the place in
    the audio at which it came.

    Args:
        url: The server.
        pcm: 24 kHz PCM, one or several utterances.
        instructions: System prompt, None for the server's own.
        timeout_s: Longest time in which nothing may happen.

    Returns:
        The record, also of a conversation that failed half-way.

    Raises:
        SetupError: No Realtime server answers at ``url``.
        CapacityError: It has no unit for this session.
    """
    record = Record(speech_ms=speech_regions_ms(pcm))
    async with connected(url, timeout_s=timeout_s) as connection:
        opened_ms = await configure(connection, record, session_update(instructions), timeout_s)
        connection.start_clock()
        # What came before the audio lies before zero.
        record.events[:] = [
            replace(event, at_ms=event.at_ms - opened_ms) for event in record.events
        ]
        if record.closed is None and record.gave_up_after_s is None:
            speaker = asyncio.create_task(_speak(connection, pcm))
            try:
                await _listen(connection, record, timeout_s)
            finally:
                speaker.cancel()
                await asyncio.gather(speaker, return_exceptions=True)
    return record


async def configure(
    connection: Connection, record: Record, settings: Mapping[str, object], timeout_s: float
) -> float:
    """Send a ``session.update``, wait for the answer, be it an error; return when it came."""
    record.events.append(connection.first)
    await connection.send(settings)
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                event = await connection.receive()
                if isinstance(event, Closed):
                    record.closed = event
                    break
                record.events.append(event)
                if event.type in {"session.updated", "error"}:
                    break
    except TimeoutError:
        record.gave_up_after_s = timeout_s
    return connection.now_ms


def append(pcm: bytes) -> dict[str, object]:
    """The event that carries a piece of the user's audio."""
    return {"type": "input_audio_buffer.append", "audio": base64.b64encode(pcm).decode()}


async def _speak(connection: Connection, pcm: bytes) -> None:
    """Stream the audio, then silence, for ever. Late frames are caught up, so nothing drifts."""
    sent = 0
    while True:
        sent += 1
        # A frame can't leave before its last sample has been spoken.
        await asyncio.sleep(max(0.0, sent * FRAME_MS - connection.now_ms) / 1000.0)
        frame = pcm[(sent - 1) * _FRAME_BYTES : sent * _FRAME_BYTES]
        await connection.send(append(frame.ljust(_FRAME_BYTES, b"\0") if frame else _SILENCE))


async def _listen(connection: Connection, record: Record, timeout_s: float) -> None:
    last_speech_end_ms = float(record.speech_ms[-1][1]) if record.speech_ms else 0.0
    progress = Progress(last_speech_end_ms, timeout_s * 1000.0)
    while wait_ms := progress.wait_ms(connection.now_ms):
        try:
            async with asyncio.timeout(wait_ms / 1000.0):
                event = await connection.receive()
        except TimeoutError:
            continue
        if isinstance(event, Closed):
            record.closed = event
            return
        record.events.append(event)
        progress.add(event)
    if progress.timed_out(connection.now_ms):
        record.gave_up_after_s = timeout_s
