"""A unit is there for the next client in bounded time, whatever hangs when the last one leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.actors.board import Board
from s2s_actors.backends.script import Script, TtsScript
from tests.e2e.faults import Hang, HangingLlm, HangingStt, HangingTts, HangingTurn, HangingVad
from tests.e2e.remote import remote_llm
from tests.support.canaries import check_voice
from tests.support.fake_openai import FakeOpenAI, Reply
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import PATIENCE_S, RunningServer, run, scripted_models
from tests.support.sound import tone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from s2s_actors.backends.base import Models
    from s2s_actors.protocol.outputs import Count

DRAIN_S = 1.0
CLAIMABLE_S = DRAIN_S + 1.0
"""From the moment at which a client is gone to that at which the next one has its session."""
CANARY = "qvxkzjw"
LONG = {"text": f"One two {CANARY} four five six. " * 40, "token_ms": 20}
ENDLESS = {"text": " ".join(["word"] * 99 + [f"{CANARY}."])}
"""One sentence of a hundred words."""


def one_unit(models: Models | None = None, **more: Any) -> RunningServer:
    settings = {"units": 1, "queue": 1, "queue_timeout_s": 60.0, "drain_timeout_s": DRAIN_S}
    return RunningServer(models, **{**settings, **more})


def restarts(pool: dict[str, Any]) -> int:
    return sum(unit["restarts"] for unit in pool["units"])


@contextlib.asynccontextmanager
async def next_client(server: RunningServer, *, after_s: float = 0.0) -> AsyncIterator[Any]:
    """The next client, which has its session in time; ``after_s`` until anyone can know."""
    began_s = time.monotonic()
    async with RealtimeClient(server, name="next") as client:
        await client.event("session.created")
        took_s = time.monotonic() - began_s
        assert took_s < after_s + CLAIMABLE_S, f"the unit was claimable after {took_s:.2f} s"
        yield client


async def expect_own_answer(client: RealtimeClient, word: str = "mine") -> None:
    """What it is told is its own, in words and in sound."""
    response = await client.ask(word)
    assert response["status"] == "completed"
    [part] = response["output"][0]["content"]
    assert part["transcript"] == f"You said: {word}."
    assert client.audio_of(response["id"])
    assert CANARY not in json.dumps(client.events)
    check_voice(client)


# --- what heeds its cancel token costs no deadline ---------------------------------------------


async def in_mid_answer(client: RealtimeClient) -> None:
    await client.play(LONG)
    await client.write(CANARY)
    await client.create()
    await client.event("response.output_audio.delta")


async def in_mid_sentence(client: RealtimeClient) -> None:
    await client.play(ENDLESS)
    await client.write(CANARY)
    await client.create()
    await client.event("response.output_audio.delta")


@pytest.mark.parametrize("reach", [in_mid_answer, in_mid_sentence])
def test_who_leaves_in_the_middle_of_what_is_said_is_followed_at_once(
    reach: Callable[[RealtimeClient], Awaitable[None]],
) -> None:
    # Speech that takes as long as it lasts: there is much left to say when the client leaves.
    script = Script(tts=TtsScript(ms_per_char=20, chunk_ms=100, chunk_delay_ms=100))
    with one_unit(scripted_models(script)) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await reach(client)
                await client.vanish()
            async with next_client(server) as following:
                await expect_own_answer(following)
            assert restarts(await server.until_idle()) == 0

        run(scenario())


@contextlib.contextmanager
def remote(*replies: Reply) -> Iterator[tuple[FakeOpenAI, RunningServer]]:
    """A server whose language model is another server; its limits are far beyond the drain's."""
    with FakeOpenAI(*replies) as fake:
        llm = remote_llm(fake)
        try:
            with one_unit(scripted_models(llm=llm)) as server:
                yield fake, server
        finally:
            llm.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(texts=(CANARY, " and"), stall_after=1),
        Reply(texts=(CANARY, " and"), stall_after=1, comments=True),
        Reply(silent=True),
        Reply(status=503, retry_after="4.9"),
    ],
    ids=["stalls", "stalls-with-comments", "never-answers", "wants-to-be-asked-later"],
)
def test_who_leaves_a_remote_model_that_says_nothing_is_followed_at_once(reply: Reply) -> None:
    with remote(reply, Reply(texts=("You said: mine.",))) as (fake, server):

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.write(CANARY)
                await client.create()
                assert await asyncio.to_thread(fake.arrived.acquire, timeout=PATIENCE_S)
                await client.vanish()
            async with next_client(server) as following:
                await expect_own_answer(following)
            assert restarts(await server.until_idle()) == 0
            # It was asked once by each of the two: nothing went on asking for who had left.
            assert len(fake.requests) == 2

        run(scenario())


# --- clients that freeze -------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [LONG, {"text": CANARY, "stall": True}], ids=["talks", "stalls"])
def test_a_client_that_freezes_with_its_socket_open_is_followed_when_it_has_been_noticed(
    answer: dict[str, Any],
) -> None:
    ping_s = 0.2
    with one_unit(options={"ping_interval_s": ping_s, "ping_timeout_s": ping_s}) as server:

        async def scenario() -> None:
            client = RealtimeClient(server)
            async with client:
                await client.play(answer)
                await client.write(CANARY)
                await client.create()
                await client.event("response.created")
                await client.stop_reading()
                async with next_client(server, after_s=2 * ping_s) as following:
                    await expect_own_answer(following)
                client.reset()
            assert restarts(await server.until_idle()) == 0

        run(scenario())


# --- what heeds nothing --------------------------------------------------------------------------

HANGING: dict[str, Callable[[Hang], Any]] = {
    "vad": HangingVad,
    "stt": HangingStt,
    "llm": HangingLlm,
    "tts": HangingTts,
}


async def hang_up_on(hang: Hang, server: RunningServer, name: str = "hanging") -> None:
    """Someone talks, something hangs, and they leave."""
    async with RealtimeClient(server, name=name) as client:
        await client.play(stt=[CANARY])
        hang.arm()
        await client.say()
        assert await asyncio.to_thread(hang.entered.wait, PATIENCE_S)
        await client.vanish()


@pytest.mark.parametrize(
    ("stage", "replaced"), [("vad", 4), ("stt", 3), ("llm", 2), ("tts", 1)], ids=str
)
def test_who_leaves_a_stage_that_hangs_is_followed_in_time_and_what_comes_back_is_not_heard(
    stage: str, replaced: int, hang: Hang
) -> None:
    with one_unit(scripted_models(**{stage: HANGING[stage](hang)})) as server:

        async def scenario() -> None:
            await hang_up_on(hang, server)
            async with next_client(server) as following:
                assert restarts(await server.pool()) == replaced
                await expect_own_answer(following)
                hang.release()
                await expect_own_answer(following, "still mine")
                await following.say()
                assert (await following.done())["status"] == "completed"
            assert restarts(await server.until_idle()) == replaced

        run(scenario())


def test_a_unit_comes_back_in_time_however_often_its_stages_hang(hang: Hang) -> None:
    with one_unit(scripted_models(llm=HangingLlm(hang))) as server:

        async def scenario() -> None:
            for round_ in range(3):
                await hang_up_on(hang, server, f"hanging-{round_}")
                async with next_client(server) as following:
                    await expect_own_answer(following)
                await server.until_idle()

        run(scenario())


def test_a_turn_detector_that_hangs_keeps_no_unit(hang: Hang) -> None:
    with one_unit(scripted_models(turn=HangingTurn(hang))) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update(audio={"input": {"turn_detection": {"type": "semantic_vad"}}})
                hang.arm()
                await client.say()
                assert await asyncio.to_thread(hang.entered.wait, PATIENCE_S)
                await client.vanish()
            async with next_client(server) as following:
                await expect_own_answer(following)
            assert restarts(await server.until_idle()) == 0

        run(scenario())


def test_voice_detection_that_hangs_for_one_client_is_there_again_for_the_others(
    hang: Hang,
) -> None:
    models = scripted_models(vad=HangingVad(hang))
    with one_unit(models, units=2) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="other") as other:
                await other.update()
                await hang_up_on(hang, server)
                # They share the thread that hangs. Who talks on is heard when it has been given
                # up, and not only when it comes back.
                talking = asyncio.create_task(talk(other))
                async with next_client(server) as following:
                    await expect_own_answer(following)
                assert (await talking)["status"] == "completed"

        async def talk(client: RealtimeClient) -> dict[str, Any]:
            while True:
                await client.append(tone(100))
                if "input_audio_buffer.speech_started" in client.types:
                    break
                await asyncio.sleep(0.1)
            await client.say()
            return await client.done()

        run(scenario())


def test_a_drain_that_is_shorter_than_the_patience_with_a_thread_is_followed_in_time_too(
    hang: Hang,
) -> None:
    with one_unit(scripted_models(vad=HangingVad(hang)), drain_timeout_s=0.2) as server:

        async def scenario() -> None:
            await hang_up_on(hang, server)
            async with next_client(server) as following:
                await expect_own_answer(following)
                # The thread that hangs is given up under its hands.
                await following.say()
                assert (await following.done())["status"] == "completed"
                assert CANARY not in json.dumps(following.events)

        run(scenario())


class HangingBoard(Board):
    """Keeps whoever adds to its totals: a conversation."""

    def __init__(self, hang: Hang) -> None:
        super().__init__()
        self._hang = hang

    def count(self, count: Count) -> None:
        self._hang.befall()
        super().count(count)


@pytest.mark.parametrize("drain_s", [0.3, DRAIN_S])
def test_a_conversation_that_hangs_is_followed_in_time(drain_s: float, hang: Hang) -> None:
    with one_unit(board=HangingBoard(hang), drain_timeout_s=drain_s) as server:

        async def scenario() -> None:
            await hang_up_on(hang, server)
            async with next_client(server) as following:
                await expect_own_answer(following)

        run(scenario())
