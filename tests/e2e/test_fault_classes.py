"""Kinds of faults that other servers of this sort have had, and that no other test is about.

All of them are listed in docs/explanation/fault_classes.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.chat import Finished, TextDelta, ToolCallDelta, ToolCallStarted
from s2s_actors.backends.script import LlmAnswer, LlmScript
from s2s_actors.backends.scripted import ScriptedLlm
from tests.e2e.faults import Hang, HangingLlm, second_request
from tests.e2e.remote import served_by
from tests.e2e.talking import AUDIO, COMPLETED, natural_server, said, speak, words_of
from tests.support.fake_openai import Reply
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run, scripted_models
from tests.support.sound import noise, silence
from tests.support.tone_speech import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.base import Call
    from s2s_actors.backends.chat import LlmEvent, LlmRequest

STOPPED = "input_audio_buffer.speech_stopped"
TRANSCRIBE: dict[str, Any] = {"input": {"transcription": {"model": "tones"}}}
WRITTEN: dict[str, Any] = {"output_modalities": ["text"]}
QUESTION = say("what is new")
LONG = {"text": "One two three four five six. " * 40, "token_ms": 20}


# --- answers that never come ----------------------------------------------------------------


@pytest.mark.parametrize("conduct", ["natural", "plain"])
def test_a_noise_before_the_first_word_costs_nobody_an_answer(conduct: str) -> None:
    llm = LlmScript(answers=(LlmAnswer(text="Heard {user}.", first_token_ms=900),))
    with natural_server(llm=llm, speculation="off") as server:

        async def scenario() -> None:
            async with RealtimeClient(server, f"?conduct={conduct}") as client:
                await client.update(audio=TRANSCRIBE)
                await client.append(QUESTION + silence(600))
                await client.event("response.created")
                await speak(client, noise(150, level_db=-15) + silence(900), speed=2)
                while (response := await client.done())["status"] != "completed":
                    assert response["status"] == "cancelled"
                assert said(response) == "Heard what is new."

        run(scenario())


def test_sessions_left_in_mid_answer_cost_the_next_one_no_turn() -> None:
    with natural_server(llm=LlmScript(answers=(LlmAnswer(text="{user}", token_ms=5),))) as server:

        async def scenario() -> None:
            for number in range(20):
                async with RealtimeClient(server, name=f"left-{number}") as client:
                    await client.append(QUESTION + silence(700))
                    await client.event(AUDIO)
                    await client.vanish()
                await server.until_idle()
            async with RealtimeClient(server) as client:
                await client.update(audio=TRANSCRIBE)
                await client.append(say("and now") + silence(300) + say("this") + silence(900))
                assert said(await client.done()) == "and now this"
                assert words_of(client) == ["and now this"]

        run(scenario())


# --- what a cancel must not take with it ----------------------------------------------------


def test_a_cancel_right_behind_the_end_of_speech_leaves_the_transcript_alone() -> None:
    with natural_server(stt_delay_ms=300, speculation="off") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=TRANSCRIBE)
                await client.append(QUESTION + silence(600))
                item_id = (await client.event(STOPPED))["item_id"]
                await client.send("response.cancel")
                assert (await client.event(COMPLETED))["item_id"] == item_id
                assert words_of(client) == ["what is new"]

        run(scenario())


def test_what_a_cancelled_answer_cost_is_not_billed_to_the_next(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG, "Two words.", **WRITTEN)
            await client.write("go")
            await client.create()
            await client.event("response.output_text.delta")
            await client.send("response.cancel")
            cancelled = await client.done()
            assert cancelled["status"] == "cancelled"
            next_one = await client.ask("again")
            assert next_one["usage"]["output_tokens"] == 2
        await server.until_idle()
        usage = (await server.get("/v1/usage"))[1]
        told = sum(each["usage"]["output_tokens"] for each in (cancelled, next_one))
        assert usage["output_tokens"] >= told > 2

    run(scenario())


def test_a_request_during_an_answer_by_voice_is_refused_and_spoils_nothing(hang: Hang) -> None:
    with RunningServer(scripted_models(llm=HangingLlm(hang)), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("The answer.")
                hang.arm()
                await client.say()
                await client.event("response.created")
                await second_request(client, hang)

        run(scenario())


# --- tools ----------------------------------------------------------------------------------


class ChattyCaller(ScriptedLlm):
    """Talks before, between and behind its calls."""

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Text and calls by turns."""
        del request, call
        for number in range(2):
            yield TextDelta(f"Before {number}. ")
            yield ToolCallStarted(f"call_{number}", "look")
            yield ToolCallDelta(f"call_{number}", "{}")
        yield TextDelta("And behind.")
        yield Finished("stop", 1, 9)


@pytest.mark.parametrize("modality", ["text", "audio"])
def test_text_between_calls_is_neither_lost_nor_moved(modality: str) -> None:
    with RunningServer(scripted_models(llm=ChattyCaller()), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                response = await client.ask("look", output_modalities=[modality])
                kinds = [item["type"] for item in response["output"]]
                assert kinds == ["message", "function_call"] * 2 + ["message"]
                added = client.of("response.output_item.added")
                assert [each["output_index"] for each in added] == list(range(5))
                assert [each["item"]["id"] for each in added] == [
                    item["id"] for item in response["output"]
                ]
                texts = [
                    part.get("text", part.get("transcript", "")).strip()
                    for item in response["output"]
                    for part in item.get("content", ())
                ]
                assert texts == ["Before 0.", "Before 1.", "And behind."]

        run(scenario())


def call_delta(index: int, *, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "look", "arguments": arguments}
    return {"index": index, "id": f"call_{index}", "type": "function", "function": function}


def test_a_model_that_calls_and_then_falls_silent_has_failed() -> None:
    stalling = Reply(texts=(), tool_deltas=(call_delta(0),), stall_after=1)
    with served_by(stalling, Reply(), timeout_s=0.5) as (_, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                assert (await client.ask("look", **WRITTEN))["status"] == "failed"
                assert (await client.ask("hello", **WRITTEN))["status"] == "completed"

        run(scenario())


def test_outputs_of_calls_in_any_order_reach_one_answer_together() -> None:
    calls = tuple(call_delta(index) for index in range(3))
    calling = Reply(texts=(), tool_deltas=calls, finish_reason="tool_calls")
    with served_by(calling, Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                response = await client.ask("look", **WRITTEN)
                ids = [item["call_id"] for item in response["output"]]
                assert len(ids) == 3
                for index in (2, 0, 1):
                    item = {
                        "type": "function_call_output",
                        "call_id": ids[index],
                        "output": f"seen {index}",
                    }
                    await client.send("conversation.item.create", item=item)
                await client.create(**WRITTEN)
                assert (await client.done())["status"] == "completed"
                await client.sync()
                assert client.types.count("response.created") == 2
                messages = fake.requests[-1].body["messages"]
                outputs = {
                    message["tool_call_id"]: message["content"]
                    for message in messages
                    if message["role"] == "tool"
                }
                assert outputs == {ids[index]: f"seen {index}" for index in range(3)}

        run(scenario())


# --- models elsewhere -----------------------------------------------------------------------


def test_an_answer_that_failed_is_not_remembered_as_words_of_the_assistant() -> None:
    with served_by(Reply(status=400), Reply(), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                assert (await client.ask("one", **WRITTEN))["status"] == "failed"
                assert (await client.ask("two", **WRITTEN))["status"] == "completed"
                messages = fake.requests[-1].body["messages"]
                talk = [
                    (each["role"], each["content"]) for each in messages if each["role"] != "system"
                ]
                assert talk == [("user", "one"), ("user", "two")]

        run(scenario())


# --- sound ----------------------------------------------------------------------------------


def test_a_client_that_sets_no_format_gets_24_khz_and_is_told_so(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            created = await client.event("session.created")
            said_format = created["session"]["audio"]["output"]["format"]
            assert said_format == {"type": "audio/pcm", "rate": 24_000}
            await client.play("Just as long as that.")
            await client.say()
            response = await client.done()
            letters = len("Just as long as that.")
            ms = len(client.audio_of(response["id"])) / 2 / 24
            assert ms == pytest.approx(letters * 20, rel=0.03)

    run(scenario())
