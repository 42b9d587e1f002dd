"""Where a turn ends, how its answer is delivered, and where the time went."""

from __future__ import annotations

import asyncio
import base64
import random
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus

from s2s_actors.actors.board import Board
from s2s_actors.backends.mcp_base import NoMcp
from s2s_actors.backends.script import LlmAnswer, LlmScript, TtsScript, TurnScript
from s2s_actors.blueprint import plant
from s2s_actors.protocol.conduct import NATURAL, PLAIN, Conduct
from s2s_actors.runtime.clock import SystemClock
from s2s_actors.settings import Settings
from tests.e2e.talking import AUDIO, STARTED, natural_server, said, speak, words_of
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import run, scripted_models
from tests.support.sound import silence
from tests.support.tone_speech import say

if TYPE_CHECKING:
    from tests.support.running_server import RunningServer

COMMITTED = "input_audio_buffer.committed"
CREATED = "response.created"
REPEAT = LlmScript(answers=("{user}",))


def heard_by(detection: dict[str, Any]) -> dict[str, Any]:
    return {"input": {"transcription": {"model": "tones"}, "turn_detection": detection}}


# --- where a turn ends ------------------------------------------------------------------------


def test_a_sentence_that_sounds_unfinished_is_waited_for() -> None:
    # How finished it sounds: after "to order", and after "pizza."
    with natural_server(llm=REPEAT, turn=TurnScript(answers=(0.01, 0.99))) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=heard_by({"type": "semantic_vad"}))
                await speak(client, say("I want to order") + silence(600))
                await speak(client, say("a large pizza please now .") + silence(1000))
                text = "I want to order a large pizza please now ."
                assert said(await client.done()) == text
                assert words_of(client) == [text]
                assert client.types.count(STARTED) == client.types.count(CREATED) == 1

        run(scenario())


def test_a_sentence_that_is_finished_is_answered_sooner_than_one_that_is_not() -> None:
    with natural_server(units=2, llm=REPEAT, turn=TurnScript(answers=(0.99,))) as server:

        async def silence_ms(text: str) -> float:
            """How long it took until the turn was over."""
            async with RealtimeClient(server) as client:
                await client.update(audio=heard_by({"type": "semantic_vad"}))
                speech = say(text, word_ms=250)
                await speak(client, speech + silence(2500), speed=2)
                stopped = await client.event("input_audio_buffer.speech_stopped")
                assert said(await client.done()) == text
                return float(stopped["audio_end_ms"] - len(speech) / 48)

        async def scenario() -> None:
            finished_ms, open_ms = await asyncio.gather(
                silence_ms("what is the capital city of France?"),
                silence_ms("I would like to go to the"),
            )
            assert finished_ms < 400
            assert open_ms > 1500

        run(scenario())


def test_whoever_stops_sending_in_the_middle_of_speech_is_answered() -> None:
    with natural_server(llm=REPEAT) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=heard_by({"type": "server_vad"}))
                await client.append(say("mute me now"))
                assert said(await client.done()) == "mute me now"
                # And what is said later is another turn.
                await client.append(say("here again") + silence(600))
                assert said(await client.done()) == "here again"

        run(scenario())


async def chatter(server: RunningServer, seed: int) -> None:
    """Speaks without regard to answers."""
    seeded = random.Random(seed)  # noqa: S311 - no secret
    async with RealtimeClient(server, name=f"chatter-{seed}") as client:
        detection = {"type": "server_vad", "silence_duration_ms": 200}
        await client.update(audio=heard_by(detection))
        for number in range(12):
            words = [f"word-{10 * seed + (number + each) % 10}" for each in range(4)]
            if number == 11:  # said by nobody else, and never before
                words.reverse()
            pause = silence(seeded.choice([240, 300, 400]))
            await speak(client, say(" ".join(words)) + pause, speed=seeded.choice([4, 6, 20]))
        await client.append(silence(400))
        last = " ".join(words)
        await client.event_that(
            lambda event: event["type"] == "response.done" and last in str(event), "the last answer"
        )
        answers_fit_their_turns(client)


def answers_fit_their_turns(client: RealtimeClient) -> None:
    """No answer begins while the user speaks, and each one is to what was said last."""
    speaking, committed, to = False, "", {}
    texts = {
        event["item_id"]: event["transcript"]
        for event in client.events
        if event["type"].endswith("input_audio_transcription.completed")
    }
    for event in client.events:
        match event["type"]:
            case "input_audio_buffer.speech_started":
                speaking = True
            case "input_audio_buffer.committed":
                speaking, committed = False, event["item_id"]
            case "response.created":
                assert not speaking
                to[event["response"]["id"]] = committed
            case "response.done" if event["response"]["status"] == "completed":
                assert said(event["response"]) == texts[to[event["response"]["id"]]]


def test_no_answer_to_an_older_turn_begins_after_a_newer_one() -> None:
    llm = LlmScript(answers=(LlmAnswer(text="{user}", first_token_ms=60),))
    with natural_server(units=3, llm=llm, stt_delay_ms=60) as server:

        async def scenario() -> None:
            await asyncio.gather(*(chatter(server, seed) for seed in range(3)))

        run(scenario())


# --- how an answer is delivered -----------------------------------------------------------------


LONG_MS = 4000
LONG = LlmScript(answers=(" ".join(["One two three four five."] * 16),))
LONG_VOICE = TtsScript(ms_per_char=10.0, chunk_ms=400)


async def deliveries(client: RealtimeClient) -> list[tuple[float, float]]:
    """Arrival and length of each piece of an answer's audio, in milliseconds."""
    await client.create()
    response = await client.done()
    pieces = [each for each in client.received if each.type == AUDIO]
    assert all(each.event["response_id"] == response["id"] for each in pieces)
    lengths_ms = [len(base64.b64decode(each.event["delta"])) / 48 for each in pieces]
    assert sum(lengths_ms) == pytest.approx(LONG_MS, rel=0.05)
    return [
        (1000 * (each.at_s - pieces[0].at_s), length_ms)
        for each, length_ms in zip(pieces, lengths_ms, strict=True)
    ]


def test_speech_comes_ahead_of_its_playback_but_not_by_more_than_was_set() -> None:
    lead_ms, buffer_ms = 1000, 200
    with natural_server(llm=LONG, tts=LONG_VOICE, audio_lead_s=lead_ms / 1000) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                sent_ms = 0.0
                for at_ms, length_ms in await deliveries(client):
                    assert sent_ms - at_ms <= lead_ms + 250, "too far ahead"
                    assert at_ms <= sent_ms + buffer_ms, "the player has run dry"
                    assert length_ms <= 250
                    sent_ms += length_ms

        run(scenario())


def test_in_the_plain_protocol_speech_comes_as_fast_as_it_is_made() -> None:
    with natural_server(llm=LONG, tts=LONG_VOICE, audio_lead_s=0.5) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, "?conduct=plain") as client:
                last_ms, _ = (await deliveries(client))[-1]
                assert last_ms < LONG_MS / 4

        run(scenario())


def test_a_conduct_that_there_is_not_is_refused() -> None:
    with natural_server() as server:

        async def scenario() -> None:
            with pytest.raises(InvalidStatus) as refused:
                async with RealtimeClient(server, "?conduct=nonsense"):
                    pass
            assert refused.value.response.status_code == 400

        run(scenario())


ALONE: dict[str, tuple[object, Conduct]] = {
    "speculation": ("off", replace(NATURAL, drafts=False)),
    "partial_transcripts": ("off", replace(NATURAL, partials=False)),
    "interruptions": ("any", replace(NATURAL, weighs_interruptions=False)),
    "resume": ("off", replace(NATURAL, resumes=False)),
    "playback_clock": ("off", replace(NATURAL, knows_playback=False)),
    "echo_guard": ("off", replace(NATURAL, ignores_echo=False)),
    "audio_lead_s": (1.5, replace(NATURAL, lead_ms=1500)),
    "conduct": ("plain", PLAIN),
}


@pytest.mark.parametrize("switch", sorted(ALONE))
def test_each_switch_of_the_operator_switches_one_thing(switch: str) -> None:
    value, conduct = ALONE[switch]
    clock = SystemClock()
    try:
        made = plant(Settings(), scripted_models(), Board(), clock, NoMcp())
        assert made.conversation.conduct == NATURAL
        settings = Settings(**{switch: value})  # type: ignore[arg-type]
        made = plant(settings, scripted_models(), Board(), clock, NoMcp())
        assert made.conversation.conduct == conduct
    finally:
        clock.close()


# --- where the time went ------------------------------------------------------------------------


def test_a_session_that_wants_it_is_told_once_a_turn_where_the_time_went() -> None:
    with natural_server() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(
                    include=["turn.waterfall"], audio=heard_by({"type": "server_vad"})
                )
                for text in ("what time is it", "and now"):
                    await speak(client, say(text) + silence(700), speed=2)
                    await client.done()
                turns = client.of("turn.waterfall")
                assert [turn["item_id"] for turn in turns] == [
                    event["item_id"] for event in client.of(COMMITTED)
                ]
                for turn, created in zip(turns, client.of(CREATED), strict=True):
                    assert turn["answered"]
                    assert turn["response_id"] == created["response"]["id"]
                    assert sum(step["ms"] for step in turn["steps"]) == turn["total_ms"] > 0
                [unit] = (await server.pool())["units"]
                assert unit["last_turn"]["total_ms"] == turns[-1]["total_ms"]
                assert unit["last_turn"]["reason"] == turns[-1]["reason"]
            [unit] = (await server.until_idle())["units"]
            assert unit["last_turn"] is None

        run(scenario())


def test_a_session_that_does_not_want_it_hears_nothing_of_it() -> None:
    with natural_server() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.say()
                await client.done()
                await client.sync()
                assert "turn.waterfall" not in client.types

        run(scenario())


# --- noise reduction ------------------------------------------------------------------------------


def test_without_its_library_noise_reduction_is_refused_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "webrtc_noise_gain", None)
    with natural_server(llm=REPEAT) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                wish = {
                    "type": "realtime",
                    "audio": {"input": {"noise_reduction": {"type": "near_field"}}},
                }
                event_id = await client.send("session.update", session=wish)
                error = await client.error(event_id=event_id)
                assert (error["code"], error["param"]) == (
                    "invalid_value",
                    "session.audio.input.noise_reduction",
                )
                assert "webrtc-noise-gain" in error["message"]
                session = await client.update(audio=heard_by({"type": "server_vad"}))
                assert session["audio"]["input"]["noise_reduction"] is None
                await client.append(say("hear me") + silence(700))
                assert said(await client.done()) == "hear me"

        run(scenario())
