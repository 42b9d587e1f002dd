"""The stock ``openai`` client, sync and async, unmodified."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from openai import AsyncOpenAI, OpenAI

from tests.support.running_server import PATIENCE_S, RunningServer, run
from tests.support.sound import silence, tone
from tests.support.stream_checker import StreamChecker
from tests.support.strict_events import validate

if TYPE_CHECKING:
    from openai.types.realtime import RealtimeServerEvent

SESSION: dict[str, Any] = {
    "type": "realtime",
    "instructions": '#script {"answers": ["Hello, {user}!", "And again."]}',
    # What stock agents send, whatever server they talk to.
    "model": "gpt-realtime-2.1",
    "tracing": "auto",
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "transcription": {"model": "gpt-4o-mini-transcribe"},
            "turn_detection": {"type": "semantic_vad", "interrupt_response": True},
        },
        "output": {"voice": "ash", "speed": 1.0},
    },
}
QUESTION = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "stock client"}],
}
SPEECH = [
    base64.b64encode(pcm).decode() for pcm in (tone(600), silence(500), silence(500), silence(500))
]


class Script:
    """What both clients do, as events to send and events to wait for."""

    def __init__(self) -> None:
        self.checker = StreamChecker("stock")
        self.events: list[Any] = []

    def sends(self, event: Any) -> Any:
        self.checker.client(event)
        return event

    def receives(self, raw: str | bytes, event: RealtimeServerEvent) -> bool:
        """Check an event; tell whether a response has ended with it."""
        decoded = json.loads(raw)
        validate(decoded)
        self.checker.server(decoded)
        self.events.append(event)
        return bool(event.type == "response.done")

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]

    @property
    def text_turn(self) -> list[dict[str, Any]]:
        return [
            {"type": "session.update", "event_id": "u1", "session": SESSION},
            {"type": "conversation.item.create", "event_id": "i1", "item": QUESTION},
            {
                "type": "response.create",
                "event_id": "r1",
                "response": {"output_modalities": ["text"]},
            },
        ]

    @property
    def audio_turn(self) -> list[dict[str, Any]]:
        return [
            {"type": "session.update", "event_id": "u1", "session": SESSION},
            *({"type": "input_audio_buffer.append", "audio": audio} for audio in SPEECH),
        ]

    def check_text(self) -> None:
        self.checker.finish()
        [done] = self.of("response.done")
        assert done.response.status == "completed"
        assert done.response.output[0].content[0].text == "Hello, stock client!"
        deltas = "".join(event.delta for event in self.of("response.output_text.delta"))
        assert deltas == "Hello, stock client!"
        [updated] = self.of("session.updated")
        assert updated.session.audio.output.voice == "ash"
        assert updated.session.audio.input.turn_detection.interrupt_response is True
        assert not self.of("error")

    def check_audio(self) -> None:
        self.checker.finish()
        [done] = self.of("response.done")
        assert done.response.status == "completed"
        transcript = "Hello, scripted utterance 1!"
        assert done.response.output[0].content[0].transcript == transcript
        assert sum(len(event.delta) for event in self.of("response.output_audio.delta")) > 6400
        [heard] = self.of("conversation.item.input_audio_transcription.completed")
        assert heard.transcript == "scripted utterance 1"
        assert not self.of("error")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach the loopback device directly, whatever the machine is set up for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def base_url(server: RunningServer) -> str:
    return f"http://127.0.0.1:{server.port}/v1"


@pytest.mark.parametrize("turn", ["text", "audio"])
def test_the_async_client_holds_a_turn(server: RunningServer, turn: str) -> None:
    script = Script()
    events: list[Any] = script.text_turn if turn == "text" else script.audio_turn

    async def scenario() -> None:
        async with (
            asyncio.timeout(PATIENCE_S),
            AsyncOpenAI(api_key="any", base_url=base_url(server)) as client,
            client.realtime.connect(model="gpt-realtime-2.1") as connection,
        ):
            for event in events:
                await connection.send(script.sends(event))
            over = False
            while not over:
                raw = await connection.recv_bytes()
                over = script.receives(raw, connection.parse_event(raw))
        await server.until_idle()

    run(scenario())
    script.check_text() if turn == "text" else script.check_audio()


# That client still uses the websockets library in a way that it warns about.
@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
@pytest.mark.parametrize("turn", ["text", "audio"])
def test_the_sync_client_holds_a_turn(server: RunningServer, turn: str) -> None:
    script = Script()
    events: list[Any] = script.text_turn if turn == "text" else script.audio_turn
    with (
        OpenAI(api_key="any", base_url=base_url(server)) as client,
        client.realtime.connect(model="gpt-realtime-2.1") as connection,
    ):
        for event in events:
            connection.send(script.sends(event))
        over = False
        while not over:
            raw = connection.recv_bytes()
            over = script.receives(raw, connection.parse_event(raw))
    run(server.until_idle())
    script.check_text() if turn == "text" else script.check_audio()


def test_the_helpers_of_the_client_work_too(server: RunningServer) -> None:
    session: Any = SESSION
    question: Any = QUESTION

    async def scenario() -> None:
        async with (
            asyncio.timeout(PATIENCE_S),
            AsyncOpenAI(api_key="any", base_url=base_url(server)) as client,
            client.realtime.connect(model="m") as connection,
        ):
            await connection.session.update(session=session)
            await connection.conversation.item.create(item=question)
            await connection.response.create()
            seen = []
            async for event in connection:
                seen.append(event.type)
                if event.type == "response.output_audio.delta":
                    await connection.response.cancel()
                    break
            async for event in connection:
                if event.type == "response.done":
                    assert event.response.status in ("cancelled", "completed")
                    break
            assert seen[0] == "session.created"
        await server.until_idle()

    run(scenario())


def test_the_client_lists_the_models(server: RunningServer) -> None:
    with OpenAI(api_key="any", base_url=base_url(server)) as client:
        assert {model.id for model in client.models.list()} == {"energy", "scripted"}
