"""Four turns by the ``RealtimeSession`` of the ``openai-agents`` package."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

from tests.stock_clients.players.play import (
    ANSWER,
    LAST_ANSWER,
    QUESTION,
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
    from agents.realtime import RealtimeSession


def texts(history: list[Any]) -> list[list[str]]:
    """Role and words of every message, in order."""
    found = []
    for item in history:
        if item.type == "message":
            parts = (
                part.transcript if "audio" in part.type else part.text for part in item.content
            )
            found.append([item.role, "".join(part or "" for part in parts)])
    return found


async def follow(session: RealtimeSession, log: Log) -> None:
    """Note what the session says."""
    async for event in session:
        match event.type:
            case "audio":
                log.note("audio", len(event.audio.data))
            case "history_updated":
                log.note("history", texts(event.history))
            case "tool_end":
                log.note("tool", [event.arguments, event.output])
            case "error":
                log.note("error", str(event.error))
            case "raw_model_event" if event.data.type == "exception":
                log.note("error", repr(event.data.exception))
            case other:
                log.note(other)


async def listen(session: RealtimeSession, microphone: Microphone) -> None:
    """Pass the microphone's audio on."""
    async for piece in microphone.pieces():
        await session.send_audio(piece)


async def play(url: str, log: Log) -> Report:
    """Play all turns."""

    @function_tool
    def get_weather(city: str) -> str:
        """Tell the weather."""
        log.note("city", city)
        return WEATHER

    def answered(text: str) -> bool:
        histories = log.of("history")
        return bool(histories) and ["assistant", text] in histories[-1]

    agent = RealtimeAgent(name="Assistant", instructions="Be brief.", tools=[get_weather])
    session = await RealtimeRunner(agent).run(model_config={"url": url, "api_key": "none"})
    microphone = Microphone()
    async with session, asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(follow(session, log)),
            tasks.create_task(listen(session, microphone)),
        ]
        microphone.speak()
        await log.until(lambda: answered(ANSWER))
        await log.until_noted("agent_end")

        await session.send_message(QUESTION)
        await log.until_noted("agent_end", 2)

        await session.send_message(WEATHER_QUESTION)
        await log.until(lambda: answered(WEATHER_ANSWER))
        await log.until_noted("agent_end", 4)

        heard = len(log.of("audio"))
        await session.send_message(STORY_QUESTION)
        await log.until_noted("audio", heard + 1)
        microphone.speak()
        await log.until_noted("audio_interrupted")
        await log.until(lambda: answered(LAST_ANSWER))
        await log.until_noted("agent_end", 6)
        for task in running:
            task.cancel()
    return {
        "history": log.of("history")[-1],
        "cities": log.of("city"),
        "audio_bytes": sum(log.of("audio")),
        "interruptions": len(log.of("audio_interrupted")),
        "errors": log.of("error"),
    }


if __name__ == "__main__":
    main(play)
