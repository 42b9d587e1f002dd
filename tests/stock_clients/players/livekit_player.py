"""Four turns by LiveKit's agents with the OpenAI realtime model of ``livekit-plugins-openai``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
from livekit import rtc
from livekit.agents import Agent, AgentSession, ConversationItemAddedEvent, function_tool
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities
from livekit.plugins import openai

from tests.stock_clients.players.play import (
    ANSWER,
    LAST_ANSWER,
    QUESTION,
    RATE_HZ,
    STORY_QUESTION,
    WEATHER,
    WEATHER_ANSWER,
    WEATHER_QUESTION,
    Log,
    Microphone,
    Report,
    main,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Ear(AudioInput):
    """The microphone, as LiveKit wants it."""

    def __init__(self, microphone: Microphone) -> None:
        super().__init__(label="ear")
        self._pieces: AsyncIterator[bytes] = microphone.pieces()

    async def __anext__(self) -> rtc.AudioFrame:
        piece = await anext(self._pieces)
        return rtc.AudioFrame(piece, RATE_HZ, 1, len(piece) // 2)


class Mouth(AudioOutput):
    """Plays nothing, but takes the time that playing takes."""

    def __init__(self, log: Log) -> None:
        can = AudioOutputCapabilities(pause=False)
        super().__init__(label="mouth", capabilities=can, sample_rate=RATE_HZ)
        self._log = log
        self._started_s = 0.0
        self._duration_s = 0.0
        self._end: asyncio.TimerHandle | None = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._duration_s:
            self._started_s = asyncio.get_running_loop().time()
        self._duration_s += frame.duration
        self._log.note("audio", len(bytes(frame.data)))

    def flush(self) -> None:
        super().flush()
        if self._duration_s:
            loop = asyncio.get_running_loop()
            self._end = loop.call_at(self._started_s + self._duration_s, self._finish, False)

    def clear_buffer(self) -> None:
        if self._duration_s:
            self._log.note("interrupted")
            self._finish(True)

    def _finish(self, interrupted: bool) -> None:
        if self._end is not None:
            self._end.cancel()
        played_s = asyncio.get_running_loop().time() - self._started_s
        position_s = min(played_s, self._duration_s)
        self._end, self._duration_s = None, 0.0
        self.on_playback_finished(playback_position=position_s, interrupted=interrupted)


async def play(url: str, log: Log) -> Report:
    """Play all turns."""

    @function_tool
    async def get_weather(city: str) -> str:
        """Tell the weather."""
        log.note("city", city)
        return WEATHER

    def said(text: str) -> bool:
        return ("assistant", text) in log.of("message")

    microphone = Microphone()
    async with aiohttp.ClientSession() as http:
        model = openai.realtime.RealtimeModel(base_url=url, api_key="none", http_session=http)
        session = AgentSession(llm=model)
        session.input.audio = Ear(microphone)
        session.output.audio = Mouth(log)
        session.on("error", lambda event: log.note("error", str(event.error)))
        session.on("close", lambda event: log.note("close", str(event.error)))
        session.on("agent_state_changed", lambda event: log.note("state", event.new_state))

        @session.on("conversation_item_added")
        def _(event: ConversationItemAddedEvent) -> None:
            if event.item.type == "message":
                log.note("message", (event.item.role, event.item.text_content))

        await session.start(Agent(instructions="Be brief.", tools=[get_weather]))

        microphone.speak()
        await log.until(lambda: said(ANSWER))

        await session.generate_reply(user_input=QUESTION)
        await log.until(lambda: log.of("message").count(("assistant", ANSWER)) == 2)

        await session.generate_reply(user_input=WEATHER_QUESTION)
        await log.until(lambda: said(WEATHER_ANSWER))

        heard = len(log.of("audio"))
        session.generate_reply(user_input=STORY_QUESTION)
        await log.until_noted("audio", heard + 1)
        microphone.speak()
        await log.until_noted("interrupted")
        await log.until(lambda: said(LAST_ANSWER))

        history = [
            [item.role, item.text_content]
            for item in session.history.items
            if item.type == "message" and item.role in ("user", "assistant")
        ]
        await session.aclose()
    return {
        "history": history,
        "cities": log.of("city"),
        "audio_bytes": sum(log.of("audio")),
        "interruptions": len(log.of("interrupted")),
        "errors": log.of("error"),
    }


if __name__ == "__main__":
    main(play)
