"""What the tests of natural conversations share: speech at its own pace, and a look back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from s2s_actors.backends.script import LlmScript, Script, TtsScript, TurnScript
from tests.support.running_server import RunningServer, scripted_models
from tests.support.tone_speech import ToneStt

if TYPE_CHECKING:
    from tests.support.realtime_client import RealtimeClient

__all__ = [
    "AUDIO",
    "COMPLETED",
    "PART",
    "STARTED",
    "at_s",
    "natural_server",
    "said",
    "speak",
    "words_of",
]

AUDIO = "response.output_audio.delta"
STARTED = "input_audio_buffer.speech_started"
COMPLETED = "conversation.item.input_audio_transcription.completed"
PART = "conversation.item.input_audio_transcription.delta"
FAST_VOICE = TtsScript(ms_per_char=10.0)
_STEP_MS = 20
_BYTES_PER_MS = 48


async def speak(client: RealtimeClient, pcm: bytes, *, speed: float = 1.0) -> None:
    """Send audio as a microphone does: 20 ms each 20 ms, or faster, but never ahead of that."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    step = _STEP_MS * _BYTES_PER_MS
    for number, start in enumerate(range(0, len(pcm), step)):
        await client.append(pcm[start : start + step])
        due_s = began_s + (number + 1) * _STEP_MS / 1000 / speed
        await asyncio.sleep(max(0.0, due_s - loop.time()))


def natural_server(
    *,
    llm: LlmScript = LlmScript(),  # noqa: B008 - frozen
    tts: TtsScript = FAST_VOICE,
    turn: TurnScript = TurnScript(),  # noqa: B008 - frozen
    stt_delay_ms: float = 0,
    models: dict[str, Any] | None = None,
    **settings: Any,
) -> RunningServer:
    """A server that understands tones, and whose other models play a script."""
    script = Script(llm=llm, tts=tts, turn=turn)
    ears = {"stt": ToneStt(delay_ms=stt_delay_ms), **(models or {})}
    return RunningServer(scripted_models(script, **ears), **{"units": 1, **settings})


def at_s(client: RealtimeClient, type_: str, number: int = 0) -> float:
    """When an event of a type came, the first one unless another is wanted."""
    return [each.at_s for each in client.received if each.type == type_][number]


def said(response: dict[str, Any]) -> str:
    """What a finished response says."""
    parts = [part for item in response["output"] for part in item["content"]]
    return " ".join(part["transcript"] for part in parts)


def words_of(client: RealtimeClient) -> list[str]:
    """The transcripts of the user's turns, in order."""
    return [event["transcript"] for event in client.of(COMPLETED)]
