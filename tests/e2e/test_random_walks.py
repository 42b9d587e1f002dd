"""Clients that do anything at any time: the protocol's invariants hold all the same."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.script import Script
from tests.e2e.conftest import VOICE_FAULTS
from tests.support.realtime_client import RealtimeClient, script
from tests.support.running_server import RunningServer, run, scripted_models
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SEEDS = range(12)
STEPS = 60

ANSWERS: list[str | dict[str, Any]] = [
    "Short.",
    {"text": "A longer one. With more sentences. And more. And more.", "token_ms": 10},
    {"text": "Slow to begin with.", "first_token_ms": 120},
    {"text": "Then I fail", "after": 2, "error": "llm_down"},
    {"text": "Look. ", "tool_calls": [{"name": "look", "arguments": {"at": "it"}}]},
    {"text": "HOARSE I am. Very much so."},
    "",
    {"text": "I never end", "after": 2, "stall": True},
]
EARS: list[str | dict[str, Any]] = [
    "one",
    {"text": "two", "delay_ms": 60},
    "",
    {"error": "stt_down"},
    {"text": "five", "delay_ms": 150},
]
DETECTIONS: list[dict[str, Any] | None] = [
    None,
    {"type": "server_vad"},
    {"type": "server_vad", "silence_duration_ms": 200, "interrupt_response": False},
    {"type": "server_vad", "create_response": False},
    {"type": "semantic_vad", "eagerness": "high"},
]


class Walk:
    """One client on its way."""

    def __init__(self, client: RealtimeClient, seeded: random.Random) -> None:
        self.client = client
        self.seeded = seeded
        self.steps: list[Callable[[], Awaitable[object]]] = [
            self.speak,
            self.speak,
            self.speak,
            self.pause,
            self.pause,
            self.commit,
            self.clear,
            self.create,
            self.create,
            self.create_beside,
            self.cancel,
            self.write,
            self.delete,
            self.retrieve,
            self.truncate,
            self.switch_detection,
            self.switch_transcription,
            self.wait,
            self.wait,
            self.wait,
        ]

    async def speak(self) -> None:
        await self.client.append(tone(self.seeded.randrange(20, 600)))

    async def pause(self) -> None:
        await self.client.append(silence(self.seeded.randrange(20, 1500)))

    async def commit(self) -> None:
        await self.client.send("input_audio_buffer.commit")

    async def clear(self) -> None:
        await self.client.send("input_audio_buffer.clear")

    async def create(self) -> None:
        await self.client.create(**self.seeded.choice([{}, {"output_modalities": ["text"]}]))

    async def create_beside(self) -> None:
        await self.client.create(conversation="none", metadata={"beside": "yes"})

    async def cancel(self) -> None:
        open_ids = self.client.checker.open_responses
        if open_ids and self.seeded.random() < 0.5:
            await self.client.send("response.cancel", response_id=self.seeded.choice(open_ids))
        else:
            await self.client.send("response.cancel")

    async def write(self) -> None:
        content = [{"type": "input_text", "text": f"text {self.seeded.randrange(100)}"}]
        item = {"type": "message", "role": "user", "content": content}
        await self.client.send("conversation.item.create", item=item)

    def some_item(self) -> str:
        items = self.client.checker.items
        return self.seeded.choice(items) if items else "item_nosuch"

    async def delete(self) -> None:
        await self.client.send("conversation.item.delete", item_id=self.some_item())

    async def retrieve(self) -> None:
        await self.client.send("conversation.item.retrieve", item_id=self.some_item())

    async def truncate(self) -> None:
        await self.client.send(
            "conversation.item.truncate",
            item_id=self.some_item(),
            content_index=0,
            audio_end_ms=self.seeded.randrange(300),
        )

    async def switch_detection(self) -> None:
        detection = self.seeded.choice(DETECTIONS)
        session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
        await self.client.send("session.update", session=session)

    async def switch_transcription(self) -> None:
        wanted = {"model": "scripted", "prompt": script(*EARS)}
        transcription = self.seeded.choice([wanted, None])
        session = {"type": "realtime", "audio": {"input": {"transcription": transcription}}}
        await self.client.send("session.update", session=session)

    async def wait(self) -> None:
        """Let something happen: not long, so that the next step lands in the middle of it."""
        await asyncio.sleep(self.seeded.random() * 0.1)

    async def settle(self) -> None:
        """Come to rest, whatever was left open; then hold one ordinary turn."""
        session = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
        await self.client.send("session.update", session=session)
        await self.client.send("input_audio_buffer.clear")
        while True:
            await self.client.sync()
            if not self.client.checker.open_responses:
                break
            for response_id in self.client.checker.open_responses:
                await self.client.send("response.cancel", response_id=response_id)
        await self.client.play(
            *["All is well."],
            stt=["finally"],
            audio={"input": {"turn_detection": {"type": "server_vad"}}},
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_client_does_every_promise_is_kept(seed: int) -> None:
    with RunningServer(scripted_models(Script(tts=VOICE_FAULTS)), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                walk = Walk(client, random.Random(seed))  # noqa: S311
                await client.play(*ANSWERS, stt=EARS)
                for _ in range(STEPS):
                    await walk.seeded.choice(walk.steps)()
                await walk.settle()
                await client.say(400)

                def well(event: dict[str, Any]) -> bool:
                    return event["type"] == "response.done" and "All is well." in json.dumps(event)

                await client.event_that(well, "the ordinary turn")
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == 0

        run(scenario())
