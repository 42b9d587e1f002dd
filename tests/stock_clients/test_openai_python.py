"""``openai`` for Python, async and sync: a tool call with its output, and an interruption."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from openai import AsyncOpenAI, OpenAI

from tests.stock_clients.players.play import (
    QUESTION,
    STORY_QUESTION,
    WEATHER,
    WEATHER_QUESTION,
)
from tests.stock_clients.running import check_report, check_wire
from tests.support.running_server import PATIENCE_S, RunningServer, run
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openai.types.realtime import RealtimeServerEvent

    from tests.stock_clients.wire import Wire

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Tell the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
SESSION = {
    "type": "realtime",
    "tools": [TOOL],
    "audio": {"input": {"transcription": {"model": "gpt-4o-mini-transcribe"}}},
}
SPEECH = [
    {"type": "input_audio_buffer.append", "audio": base64.b64encode(pcm).decode()}
    for pcm in (tone(600), silence(500), silence(500), silence(500))
]


class Application:
    """Reacts to the events of the client: yields what to send next."""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {
            "history": [],
            "cities": [],
            "audio_bytes": 0,
            "interruptions": 0,
            "errors": [],
        }
        self.is_over = False
        self._turns = 0
        self._is_telling = False

    def opens(self) -> Iterator[Any]:
        """What to send first."""
        yield {"type": "session.update", "session": SESSION}
        yield from SPEECH

    def hears(self, event: RealtimeServerEvent) -> Iterator[Any]:
        """What to send after this event."""
        match event.type:
            case "error":
                self.report["errors"].append(event.error.message)
            case "conversation.item.input_audio_transcription.completed":
                self.report["history"].append(("user", event.transcript))
            case "response.output_audio_transcript.done":
                self.report["history"].append(("assistant", event.transcript))
            case "response.output_audio.delta":
                self.report["audio_bytes"] += len(base64.b64decode(event.delta))
                if self._turns == 4 and not self._is_telling:
                    self._is_telling = True
                    yield from SPEECH
            case "response.done":
                self._turns += 1
                self.report["interruptions"] += event.response.status == "cancelled"
                yield from self._next(event.response)

    def _next(self, response: Any) -> Iterator[Any]:
        match self._turns:
            case 1:
                yield from self._write(QUESTION)
            case 2:
                yield from self._write(WEATHER_QUESTION)
            case 3:
                [call] = response.output
                self.report["cities"].append(json.loads(call.arguments)["city"])
                item = {"type": "function_call_output", "call_id": call.call_id, "output": WEATHER}
                yield {"type": "conversation.item.create", "item": item}
                yield {"type": "response.create"}
            case 4:
                yield from self._write(STORY_QUESTION)
            case 6:
                self.is_over = True

    def _write(self, text: str) -> Iterator[Any]:
        self.report["history"].append(("user", text))
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        yield {"type": "conversation.item.create", "item": item}
        yield {"type": "response.create"}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach the loopback device directly, whatever the machine is set up for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_the_async_client_plays_all_turns(server: RunningServer, wires: list[Wire]) -> None:
    application = Application()

    async def scenario() -> None:
        async with (
            asyncio.timeout(PATIENCE_S),
            AsyncOpenAI(api_key="any", base_url=f"http://127.0.0.1:{server.port}/v1") as client,
            client.realtime.connect(model="gpt-realtime-2.1") as connection,
        ):
            for first in application.opens():
                await connection.send(first)
            while not application.is_over:
                for answer in application.hears(await connection.recv()):
                    await connection.send(answer)

    run(scenario())
    check_report(application.report)
    check_wire(server, wires)


# That client still uses the websockets library in a way that it warns about.
@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
def test_the_sync_client_plays_all_turns(server: RunningServer, wires: list[Wire]) -> None:
    application = Application()
    with (
        OpenAI(api_key="any", base_url=f"http://127.0.0.1:{server.port}/v1") as client,
        client.realtime.connect(model="gpt-realtime-2.1") as connection,
    ):
        for first in application.opens():
            connection.send(first)
        while not application.is_over:
            for answer in application.hears(connection.recv()):
                connection.send(answer)
    check_report(application.report)
    check_wire(server, wires)
