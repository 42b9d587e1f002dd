"""Turns, as a client sees them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from s2s_actors.backends.script import Script, SttAnswer, SttScript
from tests.e2e.faults import Hang, HangingLlm, second_request
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run, scripted_models
from tests.support.sound import silence, tone

LONG = {"text": "One two three four five six. " * 40, "token_ms": 20}
STALLED = {"text": "Well I never", "after": 1, "stall": True}
TRANSCRIPTION = "conversation.item.input_audio_transcription"


def folded(types: list[str]) -> list[str]:
    """Types of events in order, runs of deltas as one."""
    deltas = [
        "response.*.delta" if kind.startswith("response.") and kind.endswith(".delta") else kind
        for kind in types
        if not kind.startswith(TRANSCRIPTION) and kind != "rate_limits.updated"
    ]
    return deltas[:1] + [two for one, two in pairwise(deltas) if one != two]


CLOSING_AUDIO = [
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
]
ANSWER = [
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.*.delta",
]
HEARD = [
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
]


# --- plain turns ------------------------------------------------------------------------


def test_a_text_turn_has_the_documented_sequence(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.event("session.created")
            await client.play("Fine, {user}")
            start = client.mark()
            response = await client.ask("thanks", output_modalities=["text"])
            await client.sync()
            assert folded(client.types[start:])[:-1] == [
                "conversation.item.added",
                "conversation.item.done",
                *ANSWER,
                "response.output_text.done",
                *CLOSING_AUDIO[2:],
            ]
            assert response["status"] == "completed"
            assert response["output"][0]["content"] == [
                {"type": "output_text", "text": "Fine, thanks"}
            ]
            assert response["usage"]["output_tokens"] == 2

    run(scenario())


def test_an_audio_turn_by_server_vad_has_the_documented_sequence(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.event("session.created")
            await client.play("You said {user}.", stt=["good morning"])
            start = client.mark()
            await client.say()
            response = await client.done()
            await client.sync()
            assert folded(client.types[start:])[:-1] == [*HEARD, *ANSWER, *CLOSING_AUDIO]
            [heard] = client.of(f"{TRANSCRIPTION}.completed")
            item_id = client.of("input_audio_buffer.speech_started")[0]["item_id"]
            assert (heard["item_id"], heard["transcript"]) == (item_id, "good morning")
            [message] = response["output"]
            assert message["content"][0]["transcript"] == "You said good morning."
            assert len(client.audio_of(response["id"])) > 4800

    run(scenario())


def test_speech_is_located_on_the_clock_of_the_session(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.")
            await client.append(silence(1000))
            await client.say(600)
            await client.done()
            [started] = client.of("input_audio_buffer.speech_started")
            [stopped] = client.of("input_audio_buffer.speech_stopped")
            assert started["audio_start_ms"] == pytest.approx(1000 - 300, abs=64)
            assert stopped["audio_end_ms"] == pytest.approx(1600 + 500, abs=64)
            await client.send("conversation.item.retrieve", item_id=started["item_id"])
            item = (await client.event("conversation.item.retrieved"))["item"]
            length_ms = len(item["content"][0]["audio"]) * 3 / 4 / 48
            assert length_ms == pytest.approx(
                stopped["audio_end_ms"] - started["audio_start_ms"], abs=2
            )

    run(scenario())


def test_ten_turns_in_one_session_are_all_answered_in_order(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            heard = [f"sentence number {number}" for number in range(10)]
            await client.play("Answer to {user}.", stt=heard)
            for text in heard:
                await client.say(300)
                response = await client.done()
                transcript = response["output"][0]["content"][0]["transcript"]
                assert transcript == f"Answer to {text}."

    run(scenario())


def test_a_manual_commit_makes_an_item_and_no_answer(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(
                "Yes.", stt=["push to talk"], audio={"input": {"turn_detection": None}}
            )
            start = client.mark()
            await client.append(tone(500) + silence(1000))
            await client.send("input_audio_buffer.commit")
            await client.event(f"{TRANSCRIPTION}.completed", transcript="push to talk")
            await client.sync()
            assert folded(client.types[start:]) == [*HEARD[2:], "error"]
            await client.create()
            assert (await client.done())["status"] == "completed"

    run(scenario())


def test_a_response_asked_for_right_after_a_commit_knows_what_was_said(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            slow = {"text": "slow ears", "delay_ms": 200}
            await client.play(
                "I heard {user}", stt=[slow], audio={"input": {"turn_detection": None}}
            )
            await client.append(tone(500))
            await client.send("input_audio_buffer.commit")
            await client.create(output_modalities=["text"])
            response = await client.done()
            assert response["output"][0]["content"][0]["text"] == "I heard slow ears"

    run(scenario())


def test_without_create_response_nothing_is_answered_until_asked(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            detection = {"type": "server_vad", "create_response": False}
            await client.play("Yes.", audio={"input": {"turn_detection": detection}})
            await client.say()
            await client.event(f"{TRANSCRIPTION}.completed")
            await client.sync()
            assert "response.created" not in client.types
            await client.create()
            assert (await client.done())["status"] == "completed"

    run(scenario())


def test_without_transcription_settings_turns_are_answered_all_the_same(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            session = await client.play(
                "You said {user}.", transcribe=False, audio={"input": {"transcription": None}}
            )
            assert session["audio"]["input"]["transcription"] is None
            await client.say()
            response = await client.done()
            transcript = response["output"][0]["content"][0]["transcript"]
            assert transcript == "You said scripted utterance 1."
            assert not [kind for kind in client.types if kind.startswith(TRANSCRIPTION)]

    run(scenario())


def test_silence_and_clicks_start_no_turn(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.")
            await client.append(silence(500) + tone(40) + silence(1500) + tone(40) + silence(1500))
            await client.say(400)
            await client.done()
            assert len(client.of("input_audio_buffer.speech_started")) == 1

    run(scenario())


def test_words_that_are_none_are_transcribed_and_not_answered(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.", stt=["", "words"])
            await client.say()
            await client.event(f"{TRANSCRIPTION}.completed", transcript="")
            await client.sync()
            assert "response.created" not in client.types
            await client.say(700)
            assert (await client.done())["status"] == "completed"

    run(scenario())


def test_cleared_audio_is_never_heard(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.", stt=["the second half"])
            await client.append(tone(500))
            await client.event("input_audio_buffer.speech_started")
            await client.send("input_audio_buffer.clear")
            await client.event("input_audio_buffer.cleared")
            await client.append(silence(1000))
            await client.say(400)
            await client.done()
            started = client.of("input_audio_buffer.speech_started")[-1]
            assert started["audio_start_ms"] >= 500
            assert len(client.of("input_audio_buffer.committed")) == 1

    run(scenario())


# --- interruption -----------------------------------------------------------------------


def test_speech_interrupts_an_answer_and_is_answered_itself(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG, "The second answer.")
            await client.say()
            first = await client.event("response.output_audio.delta")
            await client.say(700)
            cut = await client.done()
            assert cut["id"] == first["response_id"]
            assert cut["status"] == "cancelled"
            assert cut["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
            after = client.types.index("response.done")
            second = await client.done()
            assert second["status"] == "completed"
            assert second["output"][0]["content"][0]["transcript"] == "The second answer."
            assert len(client.audio_of(second["id"])) > 4800
            await client.sync()
            late = [
                event["type"]
                for event in client.events[after + 1 :]
                if event.get("response_id") == cut["id"]
            ]
            assert not late

    run(scenario())


def test_a_cut_answer_is_closed_in_the_documented_order(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG)
            await client.say()
            await client.event("response.output_audio.delta")
            start = client.types.index("response.created")
            await client.append(tone(400))
            cut = await client.done()
            seen = folded(client.types[start:])
            started = seen.index("input_audio_buffer.speech_started")
            assert seen[:started] == ANSWER
            assert seen[started + 1 :] == CLOSING_AUDIO
            assert cut["output"][0]["status"] == "incomplete"

    run(scenario())


def test_a_client_may_truncate_and_retrieve_what_was_cut(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG, "Second.")
            await client.say()
            delta = await client.event("response.output_audio.delta")
            await client.append(tone(400))
            await client.done()
            item_id = delta["item_id"]
            await client.send(
                "conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=50
            )
            truncated = await client.event("conversation.item.truncated")
            assert truncated["audio_end_ms"] == 50
            await client.send("conversation.item.retrieve", item_id=item_id)
            item = (await client.event("conversation.item.retrieved"))["item"]
            assert len(item["content"][0]["audio"]) == 50 * 48 // 3 * 4
            await client.append(silence(800))
            assert (await client.done())["status"] == "completed"

    run(scenario())


def test_without_interrupt_response_an_answer_goes_on_and_the_turn_waits(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            detection = {"type": "server_vad", "interrupt_response": False}
            first = {"text": "One two three four five six.", "token_ms": 60}
            await client.play(first, "Next.", audio={"input": {"turn_detection": detection}})
            await client.say()
            await client.event("response.created")
            await client.say(700)
            assert (await client.done())["status"] == "completed"
            second = await client.done()
            assert second["output"][0]["content"][0]["transcript"] == "Next."

    run(scenario())


def test_speech_before_the_first_word_replaces_the_answer(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            slow = {"text": "Too late.", "first_token_ms": 3000}
            await client.play(slow, "To both.")
            await client.say()
            await client.event("response.created")
            await client.say(700)
            assert (await client.done())["status"] == "cancelled"
            second = await client.done()
            assert second["output"][0]["content"][0]["transcript"] == "To both."

    run(scenario())


def test_a_turn_that_is_talked_over_while_it_is_transcribed_is_answered_with_the_next(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            ears: list[str | dict[str, Any]] = [
                {"text": "first half", "delay_ms": 400},
                "second half",
            ]
            await client.play("To {user}.", stt=ears)
            await client.say()
            await client.event("input_audio_buffer.committed")
            await client.say(700)
            response = await client.done()
            assert response["output"][0]["content"][0]["transcript"] == "To second half."
            await client.sync()
            assert client.types.count("response.created") == 1
            heard = [event["transcript"] for event in client.of(f"{TRANSCRIPTION}.completed")]
            assert heard == ["first half", "second half"]

    run(scenario())


def test_every_one_of_twenty_interrupted_answers_is_closed(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(*[LONG] * 20, "At last.")
            for number in range(20):
                await client.say(300)
                created = await client.event("response.created")
                if number % 3:
                    kind = ["output_audio_transcript", "output_audio"][number % 2]
                    response_id = created["response"]["id"]
                    await client.event(f"response.{kind}.delta", response_id=response_id)
            await client.say(300)

            def at_last(event: dict[str, Any]) -> bool:
                return (
                    event["type"] == "response.done"
                    and event["response"]["status"] == "completed"
                    and "At last." in json.dumps(event)
                )

            await client.event_that(at_last, "the last answer")
            assert client.types.count("response.created") == 21
            assert client.types.count("response.done") == 21

    run(scenario())


# --- cancel and create ------------------------------------------------------------------


def test_cancel_then_create_at_once_gives_two_responses(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG, "Short.")
            await client.write("go on")
            await client.create()
            await client.event("response.output_audio.delta")
            await client.write("stop")
            await client.send("response.cancel")
            await client.create()
            cut = await client.done()
            assert cut["status"] == "cancelled"
            assert cut["status_details"]["reason"] == "client_cancelled"
            second = await client.done()
            assert second["status"] == "completed"
            assert second["output"][0]["content"][0]["transcript"] == "Short."
            assert second["usage"]["output_tokens"] < 40
            assert "error" not in client.types

    run(scenario())


def test_cancel_when_idle_is_an_error_that_spoils_nothing(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Full answer.")
            for _ in range(3):
                event_id = await client.send("response.cancel")
                error = await client.error(event_id=event_id)
                assert error["code"] == "response_cancel_not_active"
            await client.say()
            response = await client.done()
            assert response["status"] == "completed"
            assert client.audio_of(response["id"])

    run(scenario())


def test_of_two_creates_in_one_burst_the_second_is_refused(hang: Hang) -> None:
    with RunningServer(scripted_models(llm=HangingLlm(hang)), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("Only one.")
                hang.arm()
                await client.write("hello")
                await client.create()
                await second_request(client, hang)

        run(scenario())


def test_a_cancelled_response_stays_silent(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(LONG)
            await client.write("go on")
            await client.create()
            first = await client.event("response.output_audio_transcript.delta")
            await client.send("response.cancel", response_id=first["response_id"])
            await client.done()
            start = client.mark()
            await client.update(instructions="Be quiet.")
            await client.sync()
            assert set(client.types[start:]) <= {"rate_limits.updated", "session.updated", "error"}

    run(scenario())


# --- tools ------------------------------------------------------------------------------


def test_a_function_is_called_and_its_output_used(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            call = {"tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}
            tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
            await client.play(call, "It is {tool}.", tools=[tool])
            start = client.mark()
            await client.say()
            arguments = await client.event("response.function_call_arguments.done")
            assert arguments["name"] == "weather"
            assert json.loads(arguments["arguments"]) == {"city": "Paris"}
            response = await client.done()
            assert response["status"] == "completed"
            assert [item["type"] for item in response["output"]] == ["function_call"]
            assert not client.audio_of(response["id"])
            assert folded(client.types[start:])[len(HEARD) :][:7] == [
                "response.created",
                "response.output_item.added",
                "conversation.item.added",
                "response.*.delta",
                "response.function_call_arguments.done",
                "conversation.item.done",
                "response.output_item.done",
            ]
            output = {
                "type": "function_call_output",
                "call_id": arguments["call_id"],
                "output": "sunny",
            }
            await client.send("conversation.item.create", item=output)
            await client.event("conversation.item.done")
            await client.create()
            second = await client.done()
            assert second["output"][0]["content"][0]["transcript"] == "It is sunny."

    run(scenario())


def test_text_before_a_call_is_spoken_and_keeps_its_place(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            answer = {"text": "Let me see.", "tool_calls": [{"name": "look"}, {"name": "hear"}]}
            await client.play(answer)
            await client.write("look")
            await client.create()
            response = await client.done()
            kinds = [(item["type"], item.get("name")) for item in response["output"]]
            assert kinds == [
                ("message", None),
                ("function_call", "look"),
                ("function_call", "hear"),
            ]
            assert client.audio_of(response["id"])

    run(scenario())


def test_the_output_of_an_unknown_call_is_refused(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            item = {"type": "function_call_output", "call_id": "call_nosuch", "output": "x"}
            event_id = await client.send("conversation.item.create", item=item)
            assert (await client.error(event_id=event_id))["code"] == "invalid_tool_call_id"

    run(scenario())


# --- faults of the models ---------------------------------------------------------------


def test_an_utterance_that_cannot_be_transcribed_says_so_and_the_next_one_works(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.", stt=[{"error": "stt_down"}, "better"])
            await client.say()
            failed = await client.event(f"{TRANSCRIPTION}.failed")
            assert failed["error"]["code"] == "stt_down"
            assert failed["item_id"] == client.of("input_audio_buffer.committed")[0]["item_id"]
            await client.sync()
            assert "response.created" not in client.types
            await client.say(700)
            assert (await client.done())["status"] == "completed"

    run(scenario())


def test_without_transcription_events_a_deaf_turn_fails_its_response() -> None:
    # The client would wait for ever: nothing else tells it that it was not understood.
    script = Script(stt=SttScript(answers=(SttAnswer(error="stt_down"), "better")))
    with RunningServer(scripted_models(script)) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play(
                    "Yes.", transcribe=False, audio={"input": {"transcription": None}}
                )
                await client.say()
                failed = await client.done()
                assert failed["status"] == "failed"
                assert failed["status_details"]["error"]["code"] == "stt_down"
                await client.say(700)
                assert (await client.done())["status"] == "completed"

        run(scenario())


@pytest.mark.parametrize("modality", ["text", "audio"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"error": "llm_down"}, "llm_down"),
        ({"text": "Half an answer", "after": 2, "error": "llm_down"}, "llm_down"),
        ({"crash": "a bug"}, "stage_failed"),
        ({"text": "Half an answer", "after": 2, "crash": "a bug"}, "stage_failed"),
    ],
)
def test_a_failing_language_model_fails_one_response(
    server: RunningServer, fault: dict[str, Any], code: str, modality: str
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(fault, "Better.")
            failed = await client.ask("one", output_modalities=[modality])
            assert failed["status"] == "failed"
            assert failed["status_details"]["error"]["code"] == code
            after = await client.ask("two", output_modalities=[modality])
            assert after["status"] == "completed"
            assert "Better." in json.dumps(after["output"])
            # Failed responses report through response.done alone.
            assert "error" not in client.types

    run(scenario())


def test_a_stalled_language_model_can_be_cancelled(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(STALLED, "Better.")
            await client.write("one")
            await client.create()
            await client.event("response.output_audio_transcript.delta")
            await client.send("response.cancel")
            assert (await client.done())["status"] == "cancelled"
            assert (await client.ask("two"))["status"] == "completed"

    run(scenario())


def test_a_stalled_language_model_can_be_talked_over(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(STALLED, "Better.")
            await client.say()
            await client.event("response.output_audio_transcript.delta")
            await client.say(700)
            assert (await client.done())["status"] == "cancelled"
            assert (await client.done())["status"] == "completed"

    run(scenario())


@pytest.mark.parametrize("text", ["", " ", " \n\t "])
def test_an_answer_without_words_is_complete_and_empty(server: RunningServer, text: str) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(text, "Words.")
            response = await client.ask("one")
            assert response["status"] == "completed"
            assert response["output"] == []
            assert not client.audio_of(response["id"])
            assert (await client.ask("two"))["output"]

    run(scenario())


@pytest.mark.parametrize(("word", "code"), [("HOARSE", "tts_hoarse"), ("CHOKE", "stage_failed")])
def test_a_failing_voice_fails_one_response(server: RunningServer, word: str, code: str) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play(f"First a sentence. Then {word}. And more.", "Better.")
            failed = await client.ask("one")
            assert failed["status"] == "failed"
            assert failed["status_details"]["error"]["code"] == code
            after = await client.ask("two")
            assert after["status"] == "completed"
            assert client.audio_of(after["id"])

    run(scenario())


def test_a_stalled_voice_can_be_talked_over(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("A long WHEEZE of a sentence.", "Better.")
            await client.say()
            await client.event("response.output_audio.delta")
            await client.say(700)
            assert (await client.done())["status"] == "cancelled"
            after = await client.done()
            assert after["status"] == "completed"
            assert client.audio_of(after["id"])

    run(scenario())


# --- details of responses -----------------------------------------------------------------


def test_an_answer_that_is_cut_by_the_token_limit_is_incomplete(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("One two three four five six seven")
            response = await client.ask("count", max_output_tokens=3, output_modalities=["text"])
            assert response["status"] == "incomplete"
            assert response["status_details"]["reason"] == "max_output_tokens"
            assert response["output"][0]["status"] == "incomplete"
            assert response["output"][0]["content"][0]["text"] == "One two three"

    run(scenario())


def test_metadata_comes_back(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.")
            response = await client.ask("hello", metadata={"topic": "tides"})
            assert response["metadata"] == {"topic": "tides"}
            [created] = client.of("response.created")
            assert created["response"]["metadata"] == {"topic": "tides"}

    run(scenario())


def test_an_out_of_band_response_leaves_the_conversation_alone(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Turn {n}: {user}")
            await client.ask("first")
            start = client.mark()
            side = {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "aside"}],
            }
            await client.create(conversation="none", input=[side], output_modalities=["text"])
            response = await client.done()
            assert response["output"][0]["content"][0]["text"] == "Turn 1: aside"
            assert response["conversation_id"] is None
            await client.sync()
            assert not [t for t in client.types[start:] if t.startswith("conversation.")]
            third = await client.ask("second", output_modalities=["text"])
            assert third["output"][0]["content"][0]["text"] == "Turn 2: second"

    run(scenario())


def test_an_out_of_band_response_runs_beside_another_and_is_not_interrupted(
    server: RunningServer,
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play({"text": "Slow and steady it goes.", "token_ms": 80})
            await client.create(conversation="none", metadata={"side": "yes"})
            side = (await client.event("response.created"))["response"]["id"]
            await client.append(tone(400))
            await client.event("input_audio_buffer.speech_started")
            response = await client.done()
            assert (response["id"], response["status"]) == (side, "completed")

    run(scenario())


def test_idle_time_after_an_answer_makes_the_assistant_go_on(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            detection = {"type": "server_vad", "idle_timeout_ms": 5000}
            await client.play("Still there?", audio={"input": {"turn_detection": detection}})
            await client.say()
            await client.done()
            start = client.mark()
            await client.append(silence(3000))
            await client.event("input_audio_buffer.timeout_triggered")
            assert (await client.done())["status"] == "completed"
            seen = [kind for kind in folded(client.types[start:]) if kind != "response.*.delta"]
            assert seen[:5] == [
                "input_audio_buffer.timeout_triggered",
                "input_audio_buffer.committed",
                "conversation.item.added",
                "conversation.item.done",
                "response.created",
            ]

    run(scenario())


# --- the session ------------------------------------------------------------------------


def test_an_update_merges_and_is_answered_with_the_whole_session(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            created = (await client.event("session.created"))["session"]
            session = await client.update(audio={"input": {"turn_detection": {"threshold": 0.8}}})
            expected = created["audio"]["input"]["turn_detection"] | {"threshold": 0.8}
            assert session["audio"]["input"]["turn_detection"] == expected
            assert session["id"] == created["id"]
            assert session["audio"]["output"] == created["audio"]["output"]
            session = await client.update(instructions="")
            assert session["instructions"] == ""
            assert session["audio"]["input"]["turn_detection"] == expected

    run(scenario())


@pytest.mark.parametrize(
    ("session", "code", "param"),
    [
        ({"type": "realtime", "voice": "ash"}, "unknown_parameter", "session.voice"),
        ({"instructions": "x"}, "missing_required_parameter", "session.type"),
        ({"type": "transcription"}, "invalid_parameter", None),
        ({"type": "realtime", "output_modalities": ["video"]}, "invalid_value", None),
        ({"type": "realtime", "instructions": 5}, "invalid_type", "session.instructions"),
        (
            {
                "type": "realtime",
                "instructions": "half applied",
                "audio": {"input": {"turn_detection": {"type": "server_vad", "threshold": 7}}},
            },
            "invalid_value",
            None,
        ),
    ],
)
def test_an_update_that_is_wrong_changes_nothing(
    server: RunningServer, session: dict[str, Any], code: str, param: str | None
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            created = (await client.event("session.created"))["session"]
            event_id = await client.send("session.update", session=session)
            error = await client.error(event_id=event_id)
            assert error["code"] == code
            if param is not None:
                assert error["param"] == param
            after = await client.update()
            assert "session.updated" in client.types
            assert after == created

    run(scenario())


def test_the_voice_is_fixed_once_it_was_heard(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.")
            session = await client.update(audio={"output": {"voice": "tone-500"}})
            assert session["audio"]["output"]["voice"] == "tone-500"
            await client.ask("speak")
            await client.update(audio={"output": {"voice": "tone-500"}})
            event_id = await client.send(
                "session.update",
                session={"type": "realtime", "audio": {"output": {"voice": "ash"}}},
            )
            assert (await client.error(event_id=event_id))["code"] == "cannot_update_voice"

    run(scenario())


def test_new_instructions_count_from_the_next_answer_on(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Old.")
            assert "Old." in json.dumps(await client.ask("a"))
            await client.play("New.")
            assert "New." in json.dumps(await client.ask("b"))

    run(scenario())


def test_an_error_echoes_the_event_that_it_answers(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.send_raw('{"type":"scooby.dooby.doo","event_id":"my_awesome_event"}')
            error = await client.error(event_id="my_awesome_event")
            assert (error["code"], error["param"]) == ("invalid_value", "type")
            assert error["type"] == "invalid_request_error"
            assert (await client.update())["type"] == "realtime"

    run(scenario())


def test_a_client_that_sends_before_it_reads_is_greeted_first(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.send_raw("{")
            await client.send_raw("[]")
            await client.update()
            assert client.types[0] == "session.created"
            assert client.types.count("error") == 2

    run(scenario())
