"""One spoken turn by the ``RealtimeSession`` of the ``openai-agents`` package.

Runs by itself where that package is installed: ``python stock_agents.py URL KEY PCM_FILE``.
Prints what it has heard as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agents.realtime import RealtimeAgent, RealtimeRunner

PATIENCE_S = 40
_PIECE_BYTES = 1920


async def _speak(session: Any, pcm: bytes) -> None:
    for start in range(0, len(pcm), _PIECE_BYTES):
        await session.send_audio(pcm[start : start + _PIECE_BYTES])
        await asyncio.sleep(0.002)


async def turn(url: str, key: str, pcm: bytes) -> dict[str, Any]:
    """Speak, and listen until the answer has been heard."""
    agent = RealtimeAgent(name="Assistant", instructions="Answer in one short sentence.")
    session = await RealtimeRunner(agent).run(model_config={"url": url, "api_key": key})
    heard: dict[str, Any] = {"audio_bytes": 0, "errors": [], "events": []}
    async with asyncio.timeout(PATIENCE_S), session:
        speaking = asyncio.create_task(_speak(session, pcm))
        async for event in session:
            heard["events"].append(event.type)
            if event.type == "audio":
                heard["audio_bytes"] += len(event.audio.data)
            elif event.type == "error":
                heard["errors"].append(str(event.error))
            elif event.type == "raw_model_event" and event.data.type == "exception":
                heard["errors"].append(repr(event.data.exception))
            if {"audio_end", "agent_end"} <= set(heard["events"]) or heard["errors"]:
                break
        await speaking
    return heard


if __name__ == "__main__":
    url, key, file = sys.argv[1:]
    sys.stdout.write(json.dumps(asyncio.run(turn(url, key, Path(file).read_bytes()))) + "\n")
