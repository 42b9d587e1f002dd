"""The Realtime agents of the ``openai-agents`` package, talking to this server.

python agents_text_turn.py [URL]
"""

from __future__ import annotations

import asyncio
import sys

from agents.realtime import RealtimeAgent, RealtimeRunner


async def main(url: str) -> None:
    """Ask one question in text; the answer comes as speech, with its transcript."""
    agent = RealtimeAgent(name="Assistant", instructions="Answer in one short sentence.")
    session = await RealtimeRunner(agent).run(model_config={"url": url, "api_key": "none"})
    audio_bytes = 0
    async with session:
        await session.send_message("What is the capital of France?")
        async for event in session:
            match event.type:
                case "audio":
                    audio_bytes += len(event.audio.data)
                case "agent_end":
                    break
                case "error":
                    raise RuntimeError(event.error)
    print(f"{audio_bytes / 48_000:.1f} s of speech")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8765/v1/realtime"))
