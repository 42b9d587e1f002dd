"""The whole server with the models that come along, and with a language model over HTTP."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import numpy as np
import pytest
import soxr

from s2s_actors.backends.base import Call, SttRequest, TtsRequest
from s2s_actors.backends.loading import load_models
from s2s_actors.backends.registry import ModelSelection
from s2s_actors.client.audio_file import read_pcm
from s2s_actors.client.demo import QUESTION
from s2s_actors.runtime.cancel import CancelToken
from tests.e2e.remote import remote_llm, served_by
from tests.support.fake_openai import FakeOpenAI, Reply
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import (
    PATIENCE_S,
    RunningServer,
    ServeCommand,
    run,
    scripted_models,
)
from tests.support.sound import silence, tone
from tests.support.speech import steady, words
from tests.support.stream_checker import CrossSessionChecker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.base import Models

MODEL_PATIENCE_S = 40.0
HEARD = "conversation.item.input_audio_transcription.completed"


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    """The four embedded ones, loaded once."""
    loaded = load_models(ModelSelection())
    steady(loaded.tts)
    yield loaded
    for backend in loaded:
        backend.close()


def say(models: Models, text: str) -> bytes:
    """A text as speech at 24 kHz, a little quieter than full scale, with silence around it."""
    call = Call("speaker", CancelToken())
    pcm = b"".join(models.tts.synthesize(TtsRequest(text), call))
    samples = np.frombuffer(pcm, "<i2").astype(np.float32) * 0.5
    resampled: bytes = (
        soxr.resample(samples, models.tts.sample_rate_hz, 24_000).astype("<i2").tobytes()
    )
    return silence(300) + resampled + silence(1000)


def rms(pcm: bytes) -> float:
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    return float(np.sqrt(np.mean(samples**2))) if len(samples) else 0.0


@pytest.mark.models
def test_the_question_of_the_demonstration_is_answered(models: Models) -> None:
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio={"input": {"transcription": {"model": "any"}}})
                await client.append(read_pcm(QUESTION) + silence(1000))
                heard = await client.event(HEARD, within_s=MODEL_PATIENCE_S)
                assert "france" in words(heard["transcript"])
                done = await client.event("response.done", within_s=MODEL_PATIENCE_S)
                response = done["response"]
                assert response["status"] == "completed"
                assert "paris" in words(response["output"][0]["content"][0]["transcript"])
                audio = client.audio_of(response["id"])
                assert len(audio) > 48 * 500
                assert rms(audio) > 300
                # The voice of the answer says what the transcript says.
                assert "paris" in words(hear(models, audio))

        run(scenario())


def hear(models: Models, pcm: bytes) -> str:
    """What the server's own STT makes of audio at 24 kHz."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    resampled = soxr.resample(samples, 24_000, 16_000).astype("<i2").tobytes()
    return models.stt.transcribe(SttRequest(resampled), Call("test", CancelToken())).text


@pytest.mark.models
def test_an_answer_of_real_models_can_be_talked_over(models: Models) -> None:
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio={"input": {"transcription": {"model": "any"}}})
                await client.append(say(models, "Tell me a very long story about the sea."))
                await client.event("response.output_audio.delta", within_s=MODEL_PATIENCE_S)
                await client.append(say(models, "Stop. What is the capital of France?"))
                cut = await client.event("response.done", within_s=MODEL_PATIENCE_S)
                assert cut["response"]["status"] == "cancelled"
                after = await client.event("response.done", within_s=MODEL_PATIENCE_S)
                assert after["response"]["status"] == "completed"
                assert rms(client.audio_of(after["response"]["id"])) > 300
            await server.until_idle()

        run(scenario())


@pytest.mark.models
def test_silence_and_noise_make_real_models_say_nothing(models: Models) -> None:
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio={"input": {"transcription": {"model": "any"}}})
                generator = np.random.default_rng(3)
                noise = (generator.normal(size=24_000 * 5) * 100).astype("<i2").tobytes()
                await client.append(silence(3000) + noise + silence(2000))
                await client.append(read_pcm(QUESTION) + silence(1000))
                heard = await client.event(HEARD, within_s=MODEL_PATIENCE_S)
                assert "france" in words(heard["transcript"])
                await client.event("response.done", within_s=MODEL_PATIENCE_S)
                assert client.types.count("input_audio_buffer.committed") == 1

        run(scenario())


SENTENCES = {
    "elephant": "The elephant walks slowly through the forest.",
    "umbrella": "Please bring an umbrella because it will rain.",
    "mountain": "We climbed the mountain before breakfast.",
    "chocolate": "My sister likes chocolate and strawberries.",
}


@pytest.mark.models
def test_what_real_models_hear_and_say_stays_with_its_session(models: Models) -> None:
    watcher = CrossSessionChecker()
    for word in SENTENCES:
        watcher.canary(word, word)
    speech = {word: say(models, sentence) for word, sentence in SENTENCES.items()}
    with RunningServer(models, units=2, queue=4, queue_timeout_s=90) as server:

        async def visit(word: str, *, leaves: bool) -> None:
            async with RealtimeClient(server, name=word, watcher=watcher) as client:
                await client.event("session.created", within_s=MODEL_PATIENCE_S)
                # The model may repeat what its own user said, and nothing else.
                await client.update(audio={"input": {"transcription": {"model": "any"}}})
                await client.append(speech[word])
                heard = await client.event(HEARD, within_s=MODEL_PATIENCE_S)
                assert word in words(heard["transcript"])
                if leaves:
                    await client.event("response.created", within_s=MODEL_PATIENCE_S)
                    await client.vanish()
                else:
                    done = await client.event("response.done", within_s=MODEL_PATIENCE_S)
                    assert done["response"]["status"] == "completed"

        async def scenario() -> None:
            visits = [visit(word, leaves=number % 2 == 0) for number, word in enumerate(SENTENCES)]
            await asyncio.gather(*visits)
            pool = await server.until_idle()
            assert [unit["restarts"] for unit in pool["units"]] == [0, 0]

        run(scenario())


@pytest.mark.models
def test_a_server_that_is_stopped_while_its_models_work_ends_cleanly() -> None:
    with ServeCommand("--units", "1", scripted=False) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.write("Tell me a very long story about the sea and its ships.")
                await client.create()
                await client.event("response.output_audio.delta", within_s=MODEL_PATIENCE_S)
                server.signal(signal.SIGTERM)
                server.signal(signal.SIGINT)
                assert await client.closed() == 1001
            assert await server.exit_code() == 0

        run(scenario())


# --- a language model over HTTP -----------------------------------------------------------


async def closed_by_us(fake: FakeOpenAI, number: int) -> bool:
    """Whether the server hung up on a request."""
    return await asyncio.to_thread(fake.requests[number].closed_by_client.wait, PATIENCE_S)


def test_an_answer_over_http_is_spoken_as_it_streams() -> None:
    with served_by(Reply(texts=("Hello", " from", " afar."))) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(instructions="Be brief.")
                await client.say()
                response = await client.done()
                assert response["status"] == "completed"
                assert response["output"][0]["content"][0]["transcript"] == "Hello from afar."
                assert client.audio_of(response["id"])
                messages = fake.requests[0].body["messages"]
                assert [message["role"] for message in messages] == ["system", "user"]
                assert messages[1]["content"] == "scripted utterance 1"
                assert response["usage"]["input_tokens"] == 7

        run(scenario())


def test_talking_over_an_answer_closes_its_http_stream() -> None:
    replies = Reply(texts=("A first sentence. ", "And"), stall_after=2), Reply()
    with served_by(*replies) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.say()
                await client.event("response.output_audio.delta")
                await client.append(tone(400))
                assert (await client.done())["status"] == "cancelled"
                assert await closed_by_us(fake, 0)
                await client.append(silence(800))
                assert (await client.done())["status"] == "completed"

        run(scenario())


def test_a_client_that_vanishes_closes_the_http_stream_and_frees_the_unit() -> None:
    with served_by(Reply(silent=True), Reply()) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.say()
                await client.event("response.created")
                assert await asyncio.to_thread(fake.arrived.acquire, timeout=PATIENCE_S)
                await client.vanish()
            assert await closed_by_us(fake, 0)
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == 0
            async with RealtimeClient(server) as client:
                assert (await client.ask("hello"))["status"] == "completed"

        run(scenario())


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ([Reply(status=500)] * 3, "llm_"),
        ([Reply(status=429)] * 3, "llm_"),
        ([Reply(silent=True)], "llm_timeout"),
        ([Reply(texts=("Half", " an"), stall_after=2)], "llm_timeout"),
        ([Reply(texts=("Half", " an"), drop_after=2)], "llm_"),
        ([Reply(raw="{nonsense")], "llm_"),
    ],
)
def test_a_failing_server_fails_one_answer_and_the_next_one_works(
    broken: list[Reply], code: str
) -> None:
    with served_by(*broken, Reply(), timeout_s=1.5) as (_, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                failed = await client.ask("one", output_modalities=["text"])
                assert failed["status"] == "failed"
                error = failed["status_details"]["error"]
                assert error["code"].startswith(code)
                assert "secret-in-body" not in str(client.events)
                after = await client.ask("two")
                assert after["status"] == "completed"

        run(scenario())


def test_a_server_that_is_away_fails_one_answer_and_not_the_start() -> None:
    with FakeOpenAI() as gone:
        llm = remote_llm(gone)
    try:
        with RunningServer(scripted_models(llm=llm), units=1) as server:

            async def scenario() -> None:
                async with RealtimeClient(server) as client:
                    failed = await client.ask("one")
                    assert failed["status"] == "failed"
                    await client.update()

            run(scenario())
    finally:
        llm.close()
