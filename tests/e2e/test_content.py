"""What clients put into the conversation besides text, over a real connection."""

from __future__ import annotations

import base64
from typing import Any

from s2s_actors.backends.images import IMAGE_NOTE
from s2s_actors.backends.script import LlmScript, Script
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run, scripted_models
from tests.support.sound import tone

CREATE = "conversation.item.create"
COMPLETED = "conversation.item.input_audio_transcription.completed"
DELTA = "conversation.item.input_audio_transcription.delta"


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": list(parts)}


def voice(length_ms: int, *, hz: float = 440.0) -> dict[str, Any]:
    return {"type": "input_audio", "audio": base64.b64encode(tone(length_ms, hz=hz)).decode()}


def test_audio_in_a_created_item_is_heard_and_answered(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("You said {user}.", stt=["good", "morning"])
            await client.send(CREATE, item=message(voice(300), voice(500, hz=600)))
            await client.create(output_modalities=["text"])
            response = await client.done()
            assert response["output"][0]["content"][0]["text"] == "You said good morning."
            heard = client.of(COMPLETED)
            assert [(e["content_index"], e["transcript"]) for e in heard] == [
                (0, "good"),
                (1, "morning"),
            ]

    run(scenario())


def test_audio_in_the_input_of_a_response_is_heard_by_it_alone(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("You said {user}.", stt=["hello"])
            given = [message(voice(300))]
            await client.create(conversation="none", output_modalities=["text"], input=given)
            response = await client.done()
            assert response["output"][0]["content"][0]["text"] == "You said hello."
            assert client.of(COMPLETED) == []

    run(scenario())


def test_a_model_that_can_not_see_is_told_of_an_image(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("You sent {user}.")
            png = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
            part = {"type": "input_image", "image_url": f"data:image/png;base64,{png}"}
            await client.send(CREATE, item=message(part))
            await client.create(output_modalities=["text"])
            response = await client.done()
            assert response["output"][0]["content"][0]["text"] == f"You sent {IMAGE_NOTE}."

    run(scenario())


CONTEXT = Script(llm=LlmScript(answers=("{user} of {n}",), context_tokens=100))


def test_what_the_model_can_not_take_is_left_out_or_refused() -> None:
    async def scenario() -> None:
        with RunningServer(scripted_models(CONTEXT)) as server:
            async with RealtimeClient(server) as client:
                await client.update(output_modalities=["text"], instructions="")
                for word in ("a", "b", "c"):
                    await client.write(word * 100)
                await client.create()
                response = await client.done()
                # The scripted model counts the user's turns that it gets to read.
                assert response["output"][0]["content"][0]["text"].endswith("c of 2")

                await client.update(truncation="disabled")
                await client.create()
                response = await client.done()
                assert response["status"] == "failed"
                assert response["status_details"]["error"]["code"] == "context_length_exceeded"

    run(scenario())


def test_log_probabilities_of_what_was_heard_come_when_they_are_included(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.", stt=["good morning"])
            for include in (None, ["item.input_audio_transcription.logprobs"]):
                await client.update(include=include)
                await client.say()
                await client.done()
            plain, rich = client.of(COMPLETED)
            assert "logprobs" not in plain
            assert [entry["token"] for entry in rich["logprobs"]] == ["good", " morning"]
            assert all(entry["logprob"] < 0 for entry in rich["logprobs"])
            assert rich["logprobs"] == client.of(DELTA)[-1]["logprobs"]

    run(scenario())
