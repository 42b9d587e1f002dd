"""Answers are begun in short pauses, and nobody sees it but by the time that it saves."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.script import LlmAnswer, LlmRule, LlmScript, TtsRule, TtsScript
from tests.e2e.talking import AUDIO, at_s, natural_server, said, speak, words_of
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import run
from tests.support.sound import silence
from tests.support.tone_speech import say

if TYPE_CHECKING:
    from tests.support.running_server import RunningServer

STOPPED = "input_audio_buffer.speech_stopped"
SLOW_MS = 120


def patient(silence_ms: int = 800) -> dict[str, Any]:
    detection = {"type": "server_vad", "silence_duration_ms": silence_ms}
    return {"input": {"transcription": {"model": "tones"}, "turn_detection": detection}}


def slow_server(speculation: str) -> RunningServer:
    """Every model takes its time before its first result."""
    answer = LlmAnswer(text="You said {user}.", first_token_ms=SLOW_MS)
    return natural_server(
        llm=LlmScript(answers=(answer,)),
        tts=TtsScript(ms_per_char=10.0, first_chunk_ms=SLOW_MS),
        stt_delay_ms=SLOW_MS,
        speculation=speculation,
    )


async def wait_for_the_answer_s(server: RunningServer) -> float:
    """From the end of the turn to the first sound of its answer."""
    async with RealtimeClient(server) as client:
        await client.update(audio=patient())
        await speak(client, say("what time is it") + silence(1000))
        assert said(await client.done()) == "You said what time is it."
        return at_s(client, AUDIO) - at_s(client, STOPPED)


def test_an_answer_begun_in_the_pause_is_there_when_the_turn_ends() -> None:
    with slow_server("on") as ahead, slow_server("off") as after:

        async def scenario() -> None:
            speculative_s = await wait_for_the_answer_s(ahead)
            plain_s = await wait_for_the_answer_s(after)
            # Without a guess, all three models come one after the other.
            assert plain_s >= 3 * SLOW_MS / 1000
            assert speculative_s < plain_s / 3

        run(scenario())


async def hesitate(server: RunningServer) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    """A turn with a pause in it: its events, the usage after it, and what was said."""
    async with RealtimeClient(server) as client:
        await client.update(audio=patient(500))
        pcm = say("I want to order") + silence(300) + say("a large pizza") + silence(700)
        await speak(client, pcm, speed=2)
        response = await client.done()
        assert said(response) == "You said: I want to order a large pizza."
        assert words_of(client) == ["I want to order a large pizza"]
        assert len(client.checker.items) == 2
        await client.sync()
        seen = [each for each in client.types if not each.endswith(".delta")]
    await server.until_idle()
    _, usage = await server.get("/v1/usage")
    return seen, usage, response["usage"]


def test_a_pause_within_a_turn_leaves_no_trace_but_in_the_totals() -> None:
    with natural_server() as ahead, natural_server(speculation="off") as after:

        async def scenario() -> None:
            seen, usage, response = await hesitate(ahead)
            seen_plainly, plain_usage, plain_response = await hesitate(after)
            assert sorted(seen) == sorted(seen_plainly)
            assert response == plain_response
            drafts = {name: usage.pop(name) for name in list(usage) if "speculative" in name}
            none = {name: plain_usage.pop(name) for name in drafts}
            assert usage == plain_usage
            assert set(none.values()) == {0}
            # At the pause the whole answer to the first half had been written.
            assert drafts["speculative_output_tokens"] == 6  # You said: I want to order.
            assert drafts["speculative_input_tokens"] > 0

        run(scenario())


def test_a_draft_does_not_know_that_it_was_one_when_the_session_changes_meanwhile() -> None:
    with slow_server("on") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=patient())
                await speak(client, say("what time is it") + silence(500))
                await client.play("It is late, {user}.", transcribe=False)
                await speak(client, silence(600), speed=4)
                assert said(await client.done()) == "It is late, what time is it."
                assert client.types.count("response.created") == 1

        run(scenario())


@pytest.mark.parametrize("fault", [{"error": "llm_down"}, {"crash": "a bug"}])
@pytest.mark.parametrize("kind", ["llm", "tts"])
def test_a_model_that_fails_in_a_draft_costs_nobody_an_answer(
    kind: str, fault: dict[str, str]
) -> None:
    llm, tts = LlmScript(), TtsScript(ms_per_char=10.0)
    if kind == "llm":
        rule = LlmRule(match="order$", answers=(LlmAnswer(**fault),))  # type: ignore[arg-type]
        llm = LlmScript(rules=(rule,))
    else:
        tts = TtsScript(ms_per_char=10.0, rules=(TtsRule(match=r"order\.", **fault),))  # type: ignore[arg-type]
    with natural_server(llm=llm, tts=tts) as server:

        async def scenario() -> None:
            seen, usage, _ = await hesitate(server)
            assert "error" not in seen[:-1], "the last one tells that all is over"
            assert seen.count("response.done") == 1
            assert usage["responses"] == 1
            crashed = int("crash" in fault)
            assert (await server.pool())["units"][0]["restarts"] == crashed

        run(scenario())


async def ramble(server: RunningServer, seed: int, turns: int) -> None:
    """Turns of several parts each, with pauses that are too short to end them."""
    seeded = random.Random(seed)  # noqa: S311 - no secret
    numbers = [f"word-{number}" for number in range(40)]
    async with RealtimeClient(server, name=f"rambler-{seed}") as client:
        await client.update(audio=patient(500))
        turns_said = []
        for _ in range(turns):
            words = seeded.sample(numbers, seeded.randrange(2, 7))
            turns_said.append(" ".join(words))
            pauses = [silence(seeded.choice([0, 40, 120, 200, 380])) for _ in words]
            speech = b"".join(say(word) + pause for word, pause in zip(words, pauses, strict=True))
            await speak(client, speech + silence(720), speed=seeded.choice([4, 8, 1000]))
            response = await client.done()
            assert (response["status"], said(response)) == ("completed", f"You: {turns_said[-1]}")
            # What still plays would make the next turn an interruption.
            await speak(client, silence(100), speed=1)
        assert words_of(client) == turns_said
        assert client.types.count("response.created") == turns


def test_thirty_turns_with_pauses_get_one_answer_each_and_to_the_whole() -> None:
    rules = LlmScript(answers=("You: {user}",))
    with natural_server(units=3, llm=rules, tts=TtsScript(ms_per_char=1.0)) as server:

        async def scenario() -> None:
            await asyncio.gather(*(ramble(server, seed, 10) for seed in range(3)))
            await server.until_idle()
            _, usage = await server.get("/v1/usage")
            assert usage["responses"] == 30

        run(scenario())
