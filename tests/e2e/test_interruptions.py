"""Who speaks over an answer: what stops it, what does not, and what is remembered of it."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.registry import load_backend
from s2s_actors.backends.script import LlmAnswer, LlmScript, TtsScript
from tests.e2e.talking import AUDIO, STARTED, natural_server, said, speak, words_of
from tests.support.fake_openai import FakeOpenAI, Reply
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import PATIENCE_S, RunningServer, run
from tests.support.sound import noise, silence
from tests.support.tone_speech import say

if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSCRIBE: dict[str, Any] = {"input": {"transcription": {"model": "tones"}}}
QUESTION = say("what is new") + silence(600)
STORY = " ".join(f"Sentence number {number} of it." for number in range(1, 13))
MS_PER_CHAR = 10
STORY_MS = len(STORY) * MS_PER_CHAR
VOICE = TtsScript(ms_per_char=MS_PER_CHAR)


def storyteller(*, token_ms: float = 0, **settings: Any) -> RunningServer:
    """Tells a story of 3 s, half a second ahead of its playback; then repeats what it hears."""
    llm = LlmScript(answers=(LlmAnswer(text=STORY, token_ms=token_ms), "{user}"))
    return natural_server(llm=llm, tts=VOICE, **{"audio_lead_s": 0.5, **settings})


async def ask_for_the_story(client: RealtimeClient) -> str:
    """Returns the id of the response, of which the first sound has come."""
    await client.update(audio=TRANSCRIBE)
    await client.append(QUESTION)
    return str((await client.event(AUDIO))["response_id"])


# --- what is no interruption ----------------------------------------------------------------


NO_WORDS = {
    "a cough": noise(150, level_db=-15),
    "two coughs": noise(200, level_db=-15) + silence(150) + noise(200, level_db=-15, seed=2),
    "a click": noise(30, level_db=-6),
    "a hum": say("Mm-hmm.", word_ms=350),
    "two words of consent": say("Yeah, okay.", word_ms=200),
}


@pytest.mark.parametrize("what", sorted(NO_WORDS))
def test_an_answer_goes_on_over(what: str) -> None:
    with storyteller() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                response_id = await ask_for_the_story(client)
                await speak(client, NO_WORDS[what] + silence(700), speed=2)
                response = await client.done()
                assert (response["id"], response["status"]) == (response_id, "completed")
                assert said(response) == STORY
                # No sound is made for the spaces between the pieces that the voice is given.
                assert len(client.audio_of(response_id)) / 48 == pytest.approx(STORY_MS, rel=0.04)
                await client.sync()
                assert len(client.of(STARTED)) == 1
                assert len(words_of(client)) == 1
                assert client.types.count("response.created") == 1

        run(scenario())


def test_a_cough_in_silence_is_told_and_answered_by_nobody() -> None:
    with storyteller() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=TRANSCRIBE)
                await speak(client, NO_WORDS["a cough"] + silence(700), speed=4)
                await client.event("conversation.item.input_audio_transcription.completed")
                await client.sync()
                assert words_of(client) == [""]
                assert "response.created" not in client.types

        run(scenario())


# --- what is one ------------------------------------------------------------------------------


INTERRUPTION = say("wait what was that again") + silence(600)
INTERRUPTIONS = {
    "a short word": (say("Stop.", word_ms=300), "Stop."),
    "a question": (say("wait what was that again"), "wait what was that again"),
    "consent that goes on": (say("Yeah, but who said that"), "Yeah, but who said that"),
}


@pytest.mark.parametrize("what", sorted(INTERRUPTIONS))
def test_an_answer_is_stopped_by(what: str) -> None:
    pcm, text = INTERRUPTIONS[what]
    with storyteller() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                response_id = await ask_for_the_story(client)
                await speak(client, pcm + silence(700), speed=2)
                response = await client.done()
                assert (response["id"], response["status"]) == (response_id, "cancelled")
                assert response["status_details"]["reason"] == "turn_detected"
                over = client.types.index("response.done")
                reply = await client.done()
                assert said(reply) == text
                assert words_of(client) == ["what is new", text]
                assert len(client.of(STARTED)) == 2
                await client.sync()
                late = [
                    each["type"] for each in client.events[over + 1 :] if _is_of(each, response_id)
                ]
                assert late == []

        run(scenario())


def _is_of(event: dict[str, Any], response_id: str) -> bool:
    return event.get("response_id") == response_id


def test_whoever_wants_the_plain_protocol_is_interrupted_by_any_sound() -> None:
    with storyteller(token_ms=50) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, "?conduct=plain") as client:
                detection = {"type": "server_vad", "silence_duration_ms": 500}
                given = {"transcription": {"model": "tones", "delay": "minimal"}}
                await client.update(audio={"input": given | {"turn_detection": detection}})
                await client.append(say("what is new and what is old and why") + silence(600))
                await client.event(AUDIO)
                await client.append(noise(128, level_db=-12))
                await client.event(STARTED)
                assert (await client.done())["status"] == "cancelled"
                await client.sync()
                parts = client.of("conversation.item.input_audio_transcription.delta")
                assert len(parts) == len(words_of(client)) == 1

        run(scenario())


# --- what is remembered -----------------------------------------------------------------------


@contextlib.contextmanager
def remote_storyteller(*replies: Reply) -> Iterator[tuple[FakeOpenAI, RunningServer]]:
    """A server whose language model can be asked what it was asked."""
    with FakeOpenAI(*replies) as fake:
        llm = load_backend("llm", "openai", BackendOptions(model="fake", base_url=fake.base_url))
        try:
            with natural_server(tts=VOICE, models={"llm": llm}, speculation="off") as server:
                yield fake, server
        finally:
            llm.close()


def story(**more: Any) -> Reply:
    return Reply(texts=tuple(re.findall(r"[^.]+\.", STORY)), **more)


def remembered(fake: FakeOpenAI) -> list[str]:
    """What the assistant has said, as the model was told in its last request."""
    messages = fake.requests[-1].body["messages"]
    return [message["content"] for message in messages if message["role"] == "assistant"]


def test_talking_over_an_answer_hangs_up_on_the_model_and_only_what_was_heard_is_kept() -> None:
    with remote_storyteller(story(stall_after=10), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await ask_for_the_story(client)
                await speak(client, silence(400) + INTERRUPTION)
                assert (await client.done())["status"] == "cancelled"
                closed = fake.requests[0].closed_by_client
                assert await asyncio.to_thread(closed.wait, PATIENCE_S)
                assert (await client.done())["status"] == "completed"
                [heard] = remembered(fake)
                assert STORY.startswith(heard)
                # Ten sentences were sent, and one or two can have been played.
                assert len(heard) < len(STORY) / 2

        run(scenario())


def test_an_answer_that_was_complete_but_still_played_is_cut_as_well() -> None:
    with remote_storyteller(story(), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await ask_for_the_story(client)
                response = await client.done()
                assert (response["status"], said(response)) == ("completed", STORY)
                await speak(client, silence(400) + INTERRUPTION)
                assert (await client.done())["status"] == "completed"
                [heard] = remembered(fake)
                assert STORY.startswith(heard)
                assert len(heard) < len(STORY) / 2
                assert client.types.count("response.done") == 2

        run(scenario())


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_client_that_knows_better_what_was_heard_has_its_way(when: str) -> None:
    with remote_storyteller(story(), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await ask_for_the_story(client)
                await client.done()
                item_id = client.of(AUDIO)[0]["item_id"]
                # Two sentences and a half, whatever the clock says.
                where = {"item_id": item_id, "content_index": 0, "audio_end_ms": 600}
                if when == "before":
                    await client.send("conversation.item.truncate", **where)
                await speak(client, say("wait what was that again"), speed=2)
                await client.event(STARTED)
                if when == "after":
                    await client.send("conversation.item.truncate", **where)
                await speak(client, silence(700), speed=4)
                assert (await client.done())["status"] == "completed"
                assert remembered(fake) == [
                    "Sentence number 1 of it. Sentence number 2 of it. Sentence number"
                ]

        run(scenario())


def test_an_answer_that_was_stopped_by_nothing_goes_on_where_it_was_cut() -> None:
    with remote_storyteller(story(), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                first = await ask_for_the_story(client)
                # Longer than a cough, and still no words.
                await speak(client, noise(900, level_db=-15) + silence(700), speed=1)
                await client.event(STARTED)
                rest = await client.done()
                while rest["id"] == first:
                    rest = await client.done()
                assert len(fake.requests) == 1
                await client.ask("And then?")
                before, after = remembered(fake)
                assert after == said(rest)
                assert f"{before} {after}" == STORY

        run(scenario())
