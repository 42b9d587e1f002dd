"""What only real voices and ears can show: echo, long speech, transcripts that grow, noise."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import soxr

from s2s_actors.backends.base import BackendOptions, Call, Models, TtsRequest
from s2s_actors.backends.registry import load_backend
from s2s_actors.backends.script import LlmScript, Script
from s2s_actors.backends.scripted import ScriptedLlm
from s2s_actors.client.bench.wording import word_errors
from s2s_actors.runtime.cancel import CancelToken
from tests.e2e.talking import AUDIO, COMPLETED, PART, STARTED, said, speak, words_of
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run
from tests.support.sound import noise, silence
from tests.support.speech import steady_voice, words

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.models

MODEL_PATIENCE_S = 40.0
ANSWER = (
    "The old lighthouse stands on a rock far away from the shore. Every evening the keeper "
    "climbs up the stairs and lights the big lamp. Ships that pass by see its light and know "
    "where they are. In winter the waves are as high as a house, and nobody can come or go."
)


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    """Real ears and a real voice, loaded once; what the voice says is in a script."""
    options = BackendOptions()
    script = Script(llm=LlmScript(answers=(ANSWER, "All right.")))
    loaded = Models(
        load_backend("vad", "silero", options),
        load_backend("stt", "faster-whisper", options),
        ScriptedLlm(script),
        steady_voice(),
        load_backend("turn", "smart-turn", options),
    )
    for backend in loaded:
        backend.warm_up()
    yield loaded
    for backend in loaded:
        backend.close()


def spoken(models: Models, *sentences: str, gain: float = 0.5) -> bytes:
    """Sentences as 24 kHz PCM, one right after the other: the silence around each is cut off."""
    call = Call("speaker", CancelToken())
    parts = []
    for sentence in sentences:
        pcm = b"".join(models.tts.synthesize(TtsRequest(sentence), call))
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) * gain
        loud = np.flatnonzero(np.abs(samples) > 300)
        parts.append(samples[loud[0] : loud[-1] + 1])
    joined = np.concatenate(parts)
    resampled = soxr.resample(joined, models.tts.sample_rate_hz, 24_000).astype("<i2")
    return bytes(resampled.tobytes())


def transcribing(**more: Any) -> dict[str, Any]:
    return {"input": {"transcription": {"model": "any", **more}}}


# --- transcripts ------------------------------------------------------------------------------


def test_a_transcript_grows_while_the_user_speaks(
    models: Models,
) -> None:
    text = "On Monday we will go to the mountains and take the early train to the lake."
    pcm = spoken(models, text)
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                detection = {"type": "server_vad", "create_response": False}
                audio = transcribing(delay="low")
                audio["input"]["turn_detection"] = detection
                await client.update(audio=audio)
                await speak(client, silence(300) + pcm + silence(700))
                heard = await client.event(COMPLETED, within_s=MODEL_PATIENCE_S)
                over = client.types.index("input_audio_buffer.speech_stopped")
                early = [each for each in client.types[:over] if each == PART]
                assert len(early) >= 2
                parts = "".join(event["delta"] for event in client.of(PART))
                # What was told early may turn out a little wrong: what is completed counts.
                assert word_error_rate(heard["transcript"], parts) < 0.2
                assert word_error_rate(text, heard["transcript"]) < 0.15

        run(scenario())


TALE = [
    "My grandfather was born in a small village near the river.",
    "He learned to build boats when he was only twelve years old.",
    "In the summer he went out to catch fish with his two brothers.",
    "One day they found a wooden box that was full of old letters.",
    "Nobody in the village could read the language they were written in.",
    "So they took the box to the teacher who lived behind the church.",
    "She read them slowly and began to smile after the second page.",
    "The letters told the story of a captain who had lost his ship.",
    "He had walked across the mountains for more than forty days.",
    "At last he came to a house where a light was burning at night.",
    "The family gave him bread and soup and a bed beside the fire.",
    "He stayed with them until spring and helped them in the garden.",
    "When he left he gave them a map that he had drawn himself.",
    "It showed a place on the coast where the water is always warm.",
    "My grandfather kept that map in his pocket for all of his life.",
    "And every morning he looked at it before he had his breakfast.",
]


def word_error_rate(reference: str, heard: str) -> float:
    errors = word_errors(heard, reference)
    return errors.errors / errors.words


def test_a_minute_of_speech_without_a_pause_is_written_down_to_its_last_word(
    models: Models,
) -> None:
    pcm = spoken(models, *TALE)
    assert len(pcm) / 48 > 45_000
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=transcribing())
                await speak(client, pcm + silence(700), speed=6)
                heard = await client.event(COMPLETED, within_s=MODEL_PATIENCE_S)
                assert client.types.count("input_audio_buffer.committed") == 1
                assert word_error_rate(" ".join(TALE), heard["transcript"]) < 0.15
                assert words(heard["transcript"])[-1] == "breakfast"

        run(scenario())


# --- echo -------------------------------------------------------------------------------------


LATE_MS, SOFTER = 150, 0.1
"""A loudspeaker beside the microphone: 150 ms later, 20 dB softer."""
TICK_MS = 20
TICK_SAMPLES = 24 * TICK_MS


class Room:
    """A client with loudspeaker and microphone in one room, in real time."""

    def __init__(self, client: RealtimeClient) -> None:
        self._client = client
        self._seen = 0
        self._waiting = np.zeros(0, "<i2")
        self._air = np.zeros(24 * LATE_MS)

    async def listen(self, ms: int, user: bytes = b"") -> None:
        """Let time pass in the room, while the user says something."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        voice = np.zeros(24 * ms)
        voice[: len(user) // 2] = np.frombuffer(user, "<i2")
        for tick in range(ms // TICK_MS):
            self._air = np.concatenate([self._air, SOFTER * self._play()])
            echo, self._air = self._air[:TICK_SAMPLES], self._air[TICK_SAMPLES:]
            mic = echo + voice[tick * TICK_SAMPLES : (tick + 1) * TICK_SAMPLES]
            await self._client.append(mic.clip(-32768, 32767).astype("<i2").tobytes())
            await asyncio.sleep(max(0.0, began_s + (tick + 1) * TICK_MS / 1000 - loop.time()))

    def _play(self) -> np.ndarray:
        """What the loudspeaker gives out in the next tick."""
        events = self._client.events[self._seen :]
        self._seen += len(events)
        for event in events:
            if event["type"] == STARTED:
                self._waiting = np.zeros(0, "<i2")
            elif event["type"] == AUDIO:
                pcm = np.frombuffer(base64.b64decode(event["delta"]), "<i2")
                self._waiting = np.concatenate([self._waiting, pcm])
        played, self._waiting = self._waiting[:TICK_SAMPLES], self._waiting[TICK_SAMPLES:]
        return np.pad(played.astype(float), (0, TICK_SAMPLES - len(played)))


def test_the_assistant_does_not_listen_to_itself_and_still_hears_the_user(
    models: Models,
) -> None:
    question = spoken(models, "What is the capital of France?")
    stop = spoken(models, "Wait a moment. Who lives there in the winter?")
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=transcribing())
                room = Room(client)
                await room.listen(len(question) // 48 + 700, question)
                await client.event(AUDIO, within_s=MODEL_PATIENCE_S)
                await room.listen(6000)
                assert len(client.of(STARTED)) == 1
                assert "response.done" not in client.types
                await room.listen(len(stop) // 48 + 1500, stop)
                cut = await client.done()
                assert cut["status"] == "cancelled"
                assert said(await client.done()) == "All right."
                assert "winter" in words(words_of(client)[-1])

        run(scenario())


def test_without_the_echo_guard_it_does_listen_to_itself(models: Models) -> None:
    question = spoken(models, "What is the capital of France?")
    with RunningServer(models, units=1, echo_guard="off") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio=transcribing())
                room = Room(client)
                await room.listen(len(question) // 48 + 700, question)
                await client.event(AUDIO, within_s=MODEL_PATIENCE_S)
                await room.listen(3000)
                assert len(client.of(STARTED)) > 1

        run(scenario())


# --- noise ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["near_field", "far_field"])
def test_speech_in_noise_is_understood_after_the_noise_was_taken_out(
    models: Models, kind: str
) -> None:
    text = "Please bring an umbrella because it will rain."
    speech = silence(500) + spoken(models, text) + silence(1500)
    hiss = np.frombuffer(noise(len(speech) // 48 + 1, level_db=-45), "<i2")[: len(speech) // 2]
    pcm = (np.frombuffer(speech, "<i2").astype(int) + hiss).clip(-32768, 32767).astype("<i2")
    with RunningServer(models, units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                wish = transcribing()
                wish["input"]["noise_reduction"] = {"type": kind}
                session = await client.update(audio=wish)
                assert session["audio"]["input"]["noise_reduction"] == {"type": kind}
                await client.append(pcm.tobytes())
                heard = await client.event(COMPLETED, within_s=MODEL_PATIENCE_S)
                assert (
                    len({"bring", "umbrella", "because", "rain"} & set(words(heard["transcript"])))
                    >= 3
                )

        run(scenario())
