"""LiveKit's agents with the realtime model of ``livekit-plugins-openai``.

python turn.py [BASE_URL]

A question in text, without a room. In a worker, the same model and agent take part in a room:
``await session.start(agent, room=ctx.room)``, and ``http_session`` is not needed.
"""

from __future__ import annotations

import asyncio
import sys

import aiohttp
from livekit.agents import Agent, AgentSession, function_tool
from livekit.plugins import openai


@function_tool
async def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    print(f"(looks out of the window in {city})")
    return "22 degrees and sunny"


async def main(base_url: str) -> None:
    """Ask about the weather; the agent calls the function and says what it has learned."""
    agent = Agent(instructions="Answer in one short sentence.", tools=[get_weather])
    async with aiohttp.ClientSession() as http:
        model = openai.realtime.RealtimeModel(
            base_url=base_url, api_key="none", modalities=["text"], http_session=http
        )
        session = AgentSession(llm=model)
        await session.start(agent)
        await session.generate_reply(user_input="What is the weather in Paris?")
        print(session.history.items[-1].text_content)
        await session.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8765/v1"))
