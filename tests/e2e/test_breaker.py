"""A backend that fails for everyone: who comes is told so, and the server finds its way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.remote import remote_llm
from tests.support.fake_openai import FakeOpenAI, Reply
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run, scripted_models

if TYPE_CHECKING:
    from tests.support.running_server import Address

CRASH = {"crash": "bug"}
AWAY = {"error": "llm_unavailable"}
READY = (200, {"ready": True, "state": "serving"})


async def fail_in_sessions(server: Address, count: int, answer: Any) -> None:
    before = (await server.pool())["in_use"]
    for number in range(count):
        async with RealtimeClient(server, name=f"failing-{number}") as client:
            await client.play(answer)
            assert (await client.ask("hello"))["status"] == "failed"
        await server.until_pool(lambda pool: pool["in_use"] == before)


async def expect_refusal(server: Address) -> None:
    async with RealtimeClient(server, name="refused") as client:
        error = await client.error()
        assert error["code"] == "backend_failing"
        assert "language model" in error["message"]
        assert "Try again in" in error["message"]
        assert await client.closed() == 1013
        assert client.types == ["error"]


async def until_somebody_may_try(server: Address) -> None:
    while (await server.get("/ready"))[0] != 200:
        pass


@pytest.mark.parametrize("answer", [CRASH, AWAY], ids=["crashes", "fails"])
def test_a_backend_that_fails_for_everyone_is_taken_out_until_one_session_shows_that_it_works(
    answer: dict[str, Any],
) -> None:
    with RunningServer(units=3) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="old") as old:
                await old.update()
                await fail_in_sessions(server, 3, answer)
                assert await server.get("/ready") == (
                    503,
                    {
                        "ready": False,
                        "state": "serving",
                        "reason": "backend_failing",
                        "stages": ["llm"],
                    },
                )
                await expect_refusal(server)
                await old.sync()  # who is in stays in
                await until_somebody_may_try(server)
                async with RealtimeClient(server, name="probe") as probe:
                    await probe.event("session.created")
                    assert (await server.get("/ready"))[0] == 503
                    await expect_refusal(server)
                    assert (await probe.ask("do you work?"))["status"] == "completed"
                    assert await server.get("/ready") == READY
                    async with RealtimeClient(server, name="next") as following:
                        assert (await following.ask("and I?"))["status"] == "completed"

        run(scenario())


def test_a_remote_model_that_is_away_is_found_again_when_it_is_back() -> None:
    # Each answer that fails has been asked for three times.
    with FakeOpenAI(*[Reply(status=503)] * 9, Reply()) as fake:
        llm = remote_llm(fake)
        try:
            with RunningServer(scripted_models(llm=llm), units=1) as server:

                async def scenario() -> None:
                    await fail_in_sessions(server, 3, "never said")
                    await expect_refusal(server)
                    await until_somebody_may_try(server)
                    async with RealtimeClient(server) as client:
                        assert (await client.ask("are you back?"))["status"] == "completed"
                    await server.until_idle()
                    assert await server.get("/ready") == READY

                run(scenario())
        finally:
            llm.close()


def test_what_the_clients_themselves_get_wrong_keeps_nobody_out() -> None:
    with FakeOpenAI(Reply(status=400)) as fake:
        llm = remote_llm(fake)
        try:
            with RunningServer(scripted_models(llm=llm), units=1) as server:

                async def scenario() -> None:
                    await fail_in_sessions(server, 5, "never said")
                    assert await server.get("/ready") == READY

                run(scenario())
        finally:
            llm.close()


def test_a_server_that_is_told_to_takes_nothing_out() -> None:
    with RunningServer(units=1, failing_sessions=0) as server:

        async def scenario() -> None:
            await fail_in_sessions(server, 5, CRASH)
            assert await server.get("/ready") == READY

        run(scenario())
