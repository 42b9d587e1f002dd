"""The Realtime agents of the ``openai-agents`` package: a typed question, a spoken answer.

python turn.py [URL]
"""

from __future__ import annotations

import asyncio
import sys

from agents import function_tool
from agents.realtime import AssistantMessageItem, RealtimeAgent, RealtimeItem, RealtimeRunner
from agents.realtime.items import AssistantAudio


@function_tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    print(f"(looks out of the window in {city})")
    return "22 degrees and sunny"


def last_words(history: list[RealtimeItem]) -> str:
    """What the assistant has said, if the last word was its."""
    match history:
        case [*_, AssistantMessageItem(content=[AssistantAudio(transcript=str() as said), *_])]:
            return said
    return ""


async def main(url: str) -> None:
    """Ask about the weather; the agent calls the function and says what it has learned."""
    agent = RealtimeAgent(
        name="Assistant", instructions="Answer in one short sentence.", tools=[get_weather]
    )
    session = await RealtimeRunner(agent).run(model_config={"url": url, "api_key": "none"})
    audio_bytes = 0
    said = ""
    async with session:
        await session.send_message("What is the weather in Paris?")
        async for event in session:
            match event.type:
                case "audio":
                    audio_bytes += len(event.audio.data)
                case "history_updated":
                    said = last_words(event.history)
                case "agent_end" if said:
                    break
                case "error":
                    raise RuntimeError(event.error)
    print(f"{said} ({audio_bytes / 48_000:.1f} s of speech)")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8765/v1/realtime"))
