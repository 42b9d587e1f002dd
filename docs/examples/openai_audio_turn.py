"""A spoken question and a spoken answer, with ``openai``, ``numpy`` and the standard library.

python openai_audio_turn.py QUESTION.wav ANSWER.wav [BASE_URL]
"""

from __future__ import annotations

import asyncio
import base64
import sys
import wave
from typing import TYPE_CHECKING

import numpy as np
from openai import AsyncOpenAI

if TYPE_CHECKING:
    from openai.resources.realtime.realtime import AsyncRealtimeConnection

RATE_HZ = 24_000
PIECE_MS = 20


def read_wav(path: str) -> bytes:
    """The recording as the protocol wants it: 24 kHz, mono, 16 bit."""
    with wave.open(path, "rb") as file:
        if file.getsampwidth() != 2:
            raise SystemExit(f"{path}: only 16-bit WAV is understood here")
        rate_hz, channels = file.getframerate(), file.getnchannels()
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
    mono = samples.reshape(-1, channels).mean(axis=1)
    length = round(len(mono) * RATE_HZ / rate_hz)
    there = np.arange(length) * rate_hz / RATE_HZ
    pcm: bytes = np.interp(there, np.arange(len(mono)), mono).astype("<i2").tobytes()
    return pcm


def write_wav(path: str, pcm: bytes) -> None:
    """Write what the assistant said."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(pcm)


async def speak(connection: AsyncRealtimeConnection, pcm: bytes) -> None:
    """Send the recording as a microphone would, and then silence until cancelled."""
    step = RATE_HZ * PIECE_MS // 1000 * 2
    position = 0
    while True:
        piece = pcm[position : position + step].ljust(step, b"\0")
        position += step
        await connection.input_audio_buffer.append(audio=base64.b64encode(piece).decode())
        await asyncio.sleep(PIECE_MS / 1000)


async def listen(connection: AsyncRealtimeConnection) -> bytes:
    """Print what happens and return the audio of the first answer."""
    answer = bytearray()
    async for event in connection:
        match event.type:
            case "conversation.item.input_audio_transcription.completed":
                print("heard:   ", event.transcript)
            case "response.output_audio.delta":
                answer += base64.b64decode(event.delta)
            case "response.output_audio_transcript.done":
                print("answered:", event.transcript)
            case "response.done":
                print(f"({event.response.status})")
                break
            case "error":
                raise RuntimeError(f"{event.error.code}: {event.error.message}")
    return bytes(answer)


async def ask(question: str, answer: str, base_url: str) -> None:
    """Hold one turn; the server finds out by itself where the question ends."""
    pcm = read_wav(question)
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    async with client.realtime.connect(model="local") as connection:
        await connection.session.update(
            session={
                "type": "realtime",
                "audio": {"input": {"transcription": {"model": "whisper-1"}}},
            }
        )
        microphone = asyncio.create_task(speak(connection, pcm))
        try:
            async with asyncio.timeout(len(pcm) / 2 / RATE_HZ + 60):
                write_wav(answer, await listen(connection))
        finally:
            microphone.cancel()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    asyncio.run(
        ask(
            sys.argv[1],
            sys.argv[2],
            sys.argv[3] if len(sys.argv) > 3 else "http://127.0.0.1:8765/v1",
        )
    )
