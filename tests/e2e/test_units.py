"""The life of the units, as ``/v1/pool`` and the clients see it."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from s2s_actors.backends.script import Script
from tests.e2e.conftest import VOICE_FAULTS
from tests.e2e.faults import SCREAM_DB, FragileBoard, FragileVad
from tests.server.harness import RawClient
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import (
    Address,
    RunningServer,
    ServeCommand,
    run,
    scripted_models,
)
from tests.support.sound import silence, tone

LONG = {"text": "One two three four five six. " * 40, "token_ms": 20}
STALLED = {"text": "Well I never", "after": 1, "stall": True}
CALL = {"tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}


def states(pool: dict[str, Any]) -> list[str]:
    return [unit["state"] for unit in pool["units"]]


def one_unit(**settings: Any) -> RunningServer:
    script = Script(tts=VOICE_FAULTS)
    return RunningServer(scripted_models(script), **{"units": 1, **settings})


async def expect_clean(server: RunningServer, word: str = "canary") -> None:
    """The next client is served as if it were the first."""
    async with RealtimeClient(server) as client:
        await client.play("I heard {user}, turn {n}.", stt=[word])
        await client.say()
        response = await client.done()
        transcript = response["output"][0]["content"][0]["transcript"]
        assert transcript == f"I heard {word}, turn 1."
        assert client.audio_of(response["id"])
        assert len(client.checker.items) == 2


# --- claims -----------------------------------------------------------------------------


def test_a_unit_is_claimed_active_and_idle_again() -> None:
    with one_unit() as server:

        async def scenario() -> None:
            before = await server.pool()
            assert (before["size"], before["in_use"], states(before)) == (1, 0, ["idle"])
            async with RealtimeClient(server) as client:
                await client.event("session.created")
                claimed = await server.pool()
                assert (claimed["in_use"], states(claimed)) == (1, ["claimed"])
                [unit] = claimed["units"]
                assert unit["session_id"] == client.session_id
                assert unit["claimed_at"] is not None
                await client.update()
                active = await server.until_pool(lambda pool: states(pool) == ["active"])
                assert active["units"][0]["since"] >= unit["since"]
            idle = await server.until_idle()
            [unit] = idle["units"]
            assert unit["session_id"] is None
            assert unit["released_at"] >= unit["claimed_at"]
            assert unit["restarts"] == 0

        run(scenario())


def test_a_full_pool_refuses_at_once_and_no_unit_notices(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as one, RealtimeClient(server, name="two") as two:
            for client in (one, two):
                await client.update()
            before = await server.until_pool(lambda pool: states(pool) == ["active", "active"])
            for _ in range(3):
                assert await refusal(server) == ("session_limit_reached", 1013)
            assert (await server.pool())["units"] == before["units"]
            for client in (one, two):
                assert (await client.ask("still there?"))["status"] == "completed"

    run(scenario())


async def refusal(server: Address) -> tuple[str, int]:
    """What the next client hears: one error with this code, then a close with that one."""
    async with RealtimeClient(server) as client:
        code = await client.closed()
        assert client.types == ["error"]
        return client.events[0]["error"]["code"], code


def test_of_fifty_clients_at_once_two_units_serve_exactly_two(server: RunningServer) -> None:
    async def one() -> str:
        async with RealtimeClient(server) as client:
            first = await client.event_that(lambda _: True, "anything")
            if first["type"] == "session.created":
                await served.wait()
            else:
                assert await client.closed() == 1013
            return str(first["type"])

    served = asyncio.Event()

    async def scenario() -> None:
        tasks = [asyncio.create_task(one()) for _ in range(50)]
        while sum(task.done() for task in tasks) < 48:
            await asyncio.wait(
                [task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED
            )
        served.set()
        answers = await asyncio.gather(*tasks)
        assert answers.count("session.created") == 2
        assert answers.count("error") == 48
        await server.until_idle()
        await expect_clean(server)

    run(scenario())


def test_the_unit_that_was_idle_longest_is_next() -> None:
    with RunningServer(units=3) as server:

        async def scenario() -> None:
            used = []
            for _ in range(6):
                async with RealtimeClient(server) as client:
                    await client.event("session.created")
                    pool = await server.pool()
                    used.append(
                        next(unit["index"] for unit in pool["units"] if unit["state"] != "idle")
                    )
                await server.until_idle()
            assert used == [0, 1, 2, 0, 1, 2]

        run(scenario())


def test_a_client_that_never_sends_anything_loses_its_unit() -> None:
    with one_unit(claim_timeout_s=0.2) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                error = await client.error()
                assert error["code"] == "session_start_timeout"
                assert await client.closed() == 1008
            await server.until_idle()
            await expect_clean(server)

        run(scenario())


def test_a_client_waits_in_the_queue_for_the_next_free_unit() -> None:
    with one_unit(queue=2, queue_timeout_s=30) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as first:
                await first.update()
                second = RealtimeClient(server, name="second")
                async with second:
                    await server.until_pool(lambda pool: pool["queue"]["length"] == 1)
                    # What it sends while it waits is kept for its session.
                    early = asyncio.create_task(second.update(instructions="from the queue"))
                    assert not second.received
                    await first.vanish()
                    assert (await early)["instructions"] == "from the queue"
                    pool = await server.pool()
                    assert (pool["queue"]["length"], pool["queue"]["limit"]) == (0, 2)
            await server.until_idle()
            await expect_clean(server)

        run(scenario())


def test_a_client_that_waits_too_long_is_refused() -> None:
    with one_unit(queue=2, queue_timeout_s=0.2) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as first:
                await first.update()
                assert await refusal(server) == ("session_limit_reached", 1013)
                assert (await first.ask("there?"))["status"] == "completed"

        run(scenario())


def test_clients_that_leave_the_queue_take_nobodys_turn() -> None:
    with one_unit(queue=10, queue_timeout_s=30) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as first:
                await first.update()
                leavers = [await RawClient.open(server.port) for _ in range(5)]
                await server.until_pool(lambda pool: pool["queue"]["length"] == 5)
                last = RealtimeClient(server, name="last")
                async with last:
                    await server.until_pool(lambda pool: pool["queue"]["length"] == 6)
                    for leaver in leavers:
                        leaver.reset()
                    await server.until_pool(lambda pool: pool["queue"]["length"] == 1)
                    await first.vanish()
                    await last.update()

        run(scenario())


# --- clients that vanish ------------------------------------------------------------------


async def reach_created(client: RealtimeClient) -> None:
    await client.event("session.created")


async def reach_mid_append(client: RealtimeClient) -> None:
    await client.update()
    await client.append(tone(200))


async def reach_speech(client: RealtimeClient) -> None:
    await client.append(tone(400))
    await client.event("input_audio_buffer.speech_started")


async def reach_awaiting_stt(client: RealtimeClient) -> None:
    await client.play("Yes.", stt=[{"text": "slow", "stall": True}])
    await client.say()
    await client.event("input_audio_buffer.committed")


async def reach_awaiting_llm(client: RealtimeClient) -> None:
    await client.play({"text": "x", "stall": True})
    await client.say()
    await client.event("response.created")


async def reach_mid_audio(client: RealtimeClient) -> None:
    await client.play(LONG)
    await client.say()
    await client.event("response.output_audio.delta")


async def reach_stalled_voice(client: RealtimeClient) -> None:
    await client.play("A long WHEEZE of a sentence.")
    await client.say()
    await client.event("response.output_audio.delta")


async def reach_tool_outstanding(client: RealtimeClient) -> None:
    await client.play(CALL)
    await client.say()
    await client.done()


async def reach_after_cancel(client: RealtimeClient) -> None:
    await client.play(LONG)
    await client.write("go")
    await client.create()
    await client.event("response.output_audio_transcript.delta")
    await client.send("response.cancel")


PHASES = [
    reach_created,
    reach_mid_append,
    reach_speech,
    reach_awaiting_stt,
    reach_awaiting_llm,
    reach_mid_audio,
    reach_stalled_voice,
    reach_tool_outstanding,
    reach_after_cancel,
]


def vanish_by_reset(client: RealtimeClient) -> None:
    client.reset()


def vanish_with_a_close_frame(client: RealtimeClient) -> None:
    client.say_goodbye_only()


def vanish_by_half_closing(client: RealtimeClient) -> None:
    client.ws.transport.write_eof()


@pytest.mark.parametrize(
    "vanish", [vanish_by_reset, vanish_with_a_close_frame, vanish_by_half_closing]
)
@pytest.mark.parametrize("reach", PHASES)
def test_a_client_may_vanish_at_any_moment(reach: Any, vanish: Any) -> None:
    with one_unit() as server:

        async def scenario() -> None:
            client = RealtimeClient(server)
            async with client:
                await reach(client)
                vanish(client)
                # Proof of the drain: nothing was replaced, and the deadline did not help.
                pool = await server.until_idle(within_s=4.5)
                assert pool["units"][0]["restarts"] == 0
                await client.vanish()
            await expect_clean(server)

        run(scenario())


def test_a_client_that_freezes_is_noticed_by_its_missing_pongs() -> None:
    options = {"ping_interval_s": 0.1, "ping_timeout_s": 0.1}
    with RunningServer(units=1, options=options) as server:

        async def scenario() -> None:
            client = RealtimeClient(server)
            async with client:
                await client.update()
                await client.stop_reading()
                await server.until_idle()
                client.reset()
            await expect_clean(server)

        run(scenario())


def test_connections_that_break_off_at_once_hold_no_unit(server: RunningServer) -> None:
    seeded = random.Random(7)  # noqa: S311
    request = (
        b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n"
    )

    async def one() -> None:
        raw = await RawClient.open(server.port, handshake=False)
        raw.send(request[: seeded.choice([0, 10, len(request) - 1, len(request), len(request)])])
        if seeded.random() < 0.5:
            # As many turns of the loop as chance wants, so that it lands anywhere.
            for _ in range(seeded.randrange(40)):
                await asyncio.sleep(0)
        raw.reset()

    async def scenario() -> None:
        for _ in range(10):
            await asyncio.gather(*(one() for _ in range(20)))
        await server.until_idle()
        await expect_clean(server)
        usage = (await server.get("/v1/usage"))[1]
        assert usage["responses"] == 1
        await server.until_idle()

    run(scenario())


# --- drains -----------------------------------------------------------------------------


def test_all_units_come_back_when_everybody_leaves_a_stalled_model() -> None:
    with RunningServer(units=3) as server:

        async def scenario() -> None:
            for round_ in range(4):
                clients = [RealtimeClient(server, name=f"{round_}-{n}") for n in range(3)]
                for client in clients:
                    await client.__aenter__()
                    await reach_awaiting_llm(client)
                for client in clients:
                    await client.vanish()
                pool = await server.until_idle(within_s=4.5)
                assert [unit["restarts"] for unit in pool["units"]] == [0, 0, 0]

        run(scenario())


@pytest.mark.parametrize(
    ("reach", "replaced"),
    [
        ("stt", ["stt", "llm", "tts"]),
        ("llm", ["llm", "tts"]),
        ("tts", ["tts"]),
    ],
)
def test_a_wedged_stage_is_quarantined_and_replaced(reach: str, replaced: list[str]) -> None:
    with one_unit(drain_timeout_s=0.3) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="wedging") as client:
                wedge = {"text": "SECRET", "wedge_s": 1.5}
                match reach:
                    case "stt":
                        await client.play("Yes.", stt=[wedge])
                        await client.say()
                        await client.event("input_audio_buffer.committed")
                    case "llm":
                        await client.play(wedge)
                        await client.say()
                        await client.event("response.created")
                    case _:
                        await client.play("SNORE aloud.")
                        await client.say()
                        await client.event("response.output_audio_transcript.delta")
                await client.sync()
                await client.vanish()
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == len(replaced)
            # The next session sees the wedged thread come back, or rather does not see it.
            async with RealtimeClient(server, name="next") as client:
                await client.play({"text": "I am clean.", "first_token_ms": 1800}, stt=["mine"])
                await client.say()
                response = await client.done()
                assert response["status"] == "completed"
                assert "SECRET" not in json.dumps(client.events)
                assert client.types.count("response.created") == 1
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == len(replaced)

        run(scenario())


# --- crashes ----------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["stt", "llm", "tts"])
def test_a_crashed_stage_costs_one_answer_and_not_the_session(stage: str) -> None:
    # A draft of the answer may crash the stage as well, before the answer itself does.
    with one_unit(speculation="off") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                match stage:
                    case "stt":
                        await client.play("Yes.", "Yes.", stt=[{"crash": "bug"}, "fine"])
                        await client.say()
                        failed = await client.event(
                            "conversation.item.input_audio_transcription.failed"
                        )
                        assert failed["error"]["code"] == "stage_failed"
                    case "llm":
                        await client.play({"text": "a b c", "after": 1, "crash": "bug"}, "Yes.")
                        await client.say()
                    case _:
                        await client.play("Then CHOKE.", "Yes.")
                        await client.say()
                if stage != "stt":
                    response = await client.done()
                    assert response["status"] == "failed"
                    assert response["status_details"]["error"]["code"] == "stage_failed"
                pool = await server.pool()
                assert (states(pool), pool["units"][0]["restarts"]) == (["active"], 1)
                await client.say(700)
                response = await client.done()
                assert response["status"] == "completed"
                assert client.audio_of(response["id"])
            await server.until_idle()
            await expect_clean(server)

        run(scenario())


async def scream(client: RealtimeClient) -> None:
    """Break the voice detection, once: what came in pieces would break its successor as well."""
    await client.append(tone(100, level_db=SCREAM_DB), step_ms=100)


def test_a_voice_detection_that_crashes_in_silence_hears_the_next_turn() -> None:
    with RunningServer(scripted_models(vad=FragileVad()), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("Yes.")
                await scream(client)
                await server.until_pool(lambda pool: pool["units"][0]["restarts"] == 1)
                await client.sync()
                await client.append(silence(300))
                await client.say()
                assert (await client.done())["status"] == "completed"

        run(scenario())


def test_a_voice_detection_that_crashes_in_mid_speech_still_ends_the_turn() -> None:
    with RunningServer(scripted_models(vad=FragileVad()), units=1) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("First.", "Second.", stt=["one", "two"])
                await client.append(tone(400))
                await client.event("input_audio_buffer.speech_started")
                await scream(client)
                await server.until_pool(lambda pool: pool["units"][0]["restarts"] == 1)
                await client.sync()
                # The user says nothing more: nobody but the server can end the turn.
                await client.append(silence(1500))
                await client.event("input_audio_buffer.speech_stopped")
                assert (await client.done())["status"] == "completed"
                await client.say(700)
                assert (await client.done())["status"] == "completed"

        run(scenario())


def test_the_fourth_crash_in_a_minute_ends_the_session_and_the_unit_comes_back() -> None:
    with one_unit() as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play({"crash": "bug"})
                for _ in range(3):
                    assert (await client.ask("again"))["status"] == "failed"
                await client.write("again")
                await client.create()
                assert (await client.error())["code"] == "internal_error"
                assert await client.closed() == 1011
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == 4
            await expect_clean(server)

        run(scenario())


def test_the_crashes_of_one_session_are_not_counted_against_the_next() -> None:
    with one_unit() as server:

        async def scenario() -> None:
            for name in ("one", "two", "three"):
                async with RealtimeClient(server, name=name) as client:
                    await client.play({"crash": "bug"}, {"crash": "bug"}, "Fine.")
                    assert (await client.ask("a"))["status"] == "failed"
                    assert (await client.ask("b"))["status"] == "failed"
                    assert (await client.ask("c"))["status"] == "completed"
                await server.until_idle()

        run(scenario())


def test_a_crashed_conversation_ends_the_session_and_the_unit_comes_back() -> None:
    board = FragileBoard(break_conversations=1)
    with RunningServer(units=1, board=board) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("Yes.")
                await client.say()
                assert (await client.error())["code"] == "internal_error"
                assert await client.closed() == 1011
            pool = await server.until_idle()
            assert pool["units"][0]["restarts"] == 1
            await expect_clean(server)

        run(scenario())


@pytest.mark.parametrize("state", ["claimed", "active", "draining"])
def test_a_crashed_unit_is_built_anew_and_leaves_nothing_behind(state: str) -> None:
    board = FragileBoard(break_unit_in=state)
    with RunningServer(units=1, board=board) as server:

        async def scenario() -> None:
            client = RealtimeClient(server)
            async with client:
                if state == "draining":
                    await client.play(STALLED)
                    await client.say()
                    await client.event("response.created")
                    await client.vanish()
                else:
                    await client.send("session.update", session={"type": "realtime"})
                    assert await client.closed() == 1011
            await server.until_idle()
            await expect_clean(server)

        run(scenario())


# --- the way down -------------------------------------------------------------------------


def test_on_sigterm_a_session_may_finish_and_new_ones_are_refused() -> None:
    with ServeCommand("--units", "2") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play("Goodbye.")
                assert (await server.get("/ready"))[0] == 200
                server.signal(signal.SIGTERM)
                while (await server.get("/ready"))[0] != 503:
                    pass
                assert await refusal(server) == ("server_shutting_down", 1001)
                await client.say()
                assert (await client.done())["status"] == "completed"
            assert await server.exit_code() == 0

        run(scenario())


def test_an_idle_server_stops_at_once_on_sigterm() -> None:
    with ServeCommand() as server:

        async def scenario() -> None:
            server.signal(signal.SIGTERM)
            assert await server.exit_code() == 0

        run(scenario())


def test_sessions_that_outlast_the_shutdown_are_told_so() -> None:
    with ServeCommand("--units", "1", "--shutdown-timeout", "0.3") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play(STALLED)
                await client.say()
                await client.event("response.output_audio_transcript.delta")
                server.signal(signal.SIGTERM)
                assert (await client.error())["code"] == "server_shutting_down"
                assert await client.closed() == 1001
            assert await server.exit_code() == 0

        run(scenario())


def test_a_second_signal_ends_sessions_at_once() -> None:
    with ServeCommand("--units", "1", "--shutdown-timeout", "3600") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play(LONG)
                await client.say()
                await client.event("response.output_audio.delta")
                server.signal(signal.SIGTERM)
                while (await server.get("/ready"))[0] != 503:
                    pass
                server.signal(signal.SIGINT)
                assert await client.closed() == 1001
            assert await server.exit_code() == 0

        run(scenario())


def test_a_wedged_stage_does_not_keep_the_process_alive() -> None:
    with ServeCommand("--units", "1", "--drain-timeout", "0.2") as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play({"text": "x", "wedge_s": 3600})
                await client.write("go")
                await client.create()
                await client.event("response.created")
                await client.sync()
                await client.vanish()
            await server.until_idle()
            server.signal(signal.SIGTERM)
            assert await server.exit_code() == 0

        run(scenario())


def test_clients_in_the_queue_are_refused_when_the_server_goes_down() -> None:
    with one_unit(queue=1, queue_timeout_s=60) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.update()
                waiting = asyncio.create_task(refusal(server))
                await server.until_pool(lambda pool: pool["queue"]["length"] == 1)
                server.ask_to_stop()
                assert await waiting == ("server_shutting_down", 1001)
                assert (await client.ask("still there?"))["status"] == "completed"
            await server.stopped()

        run(scenario())


def test_a_session_has_an_end() -> None:
    with one_unit(session_timeout_s=0.5) as server:

        async def scenario() -> None:
            async with RealtimeClient(server) as client:
                await client.play(LONG)
                await client.say()
                await client.event("response.output_audio.delta")
                assert (await client.error())["code"] == "session_expired"
                assert await client.closed() == 1001
            await server.until_idle()

        run(scenario())


# --- figures ----------------------------------------------------------------------------


def test_usage_adds_up_over_sessions(server: RunningServer) -> None:
    async def scenario() -> None:
        told = {"input": 0, "output": 0, "spoken_ms": 0}
        for name in ("one", "two", "three"):
            async with RealtimeClient(server, name=name) as client:
                await client.play("A few words for you.")
                await client.say()
                response = await client.done()
                told["input"] += response["usage"]["input_tokens"]
                told["output"] += response["usage"]["output_token_details"]["text_tokens"]
                told["spoken_ms"] += len(client.audio_of(response["id"])) // 48
        await server.until_idle()
        usage = (await server.get("/v1/usage"))[1]
        assert (usage["sessions"], usage["responses"]) == (3, 3)
        assert usage["input_tokens"] == told["input"]
        assert usage["output_tokens"] == told["output"]
        assert usage["audio_output_ms"] == pytest.approx(told["spoken_ms"], abs=3)
        assert usage["audio_input_ms"] > 3 * 600

    run(scenario())


def test_models_health_and_readiness_are_told(server: RunningServer) -> None:
    async def scenario() -> None:
        assert (await server.get("/health"))[0] == 200
        assert await server.get("/ready") == (200, {"ready": True, "state": "serving"})
        models = (await server.get("/v1/models"))[1]["data"]
        assert [model["kind"] for model in models] == ["vad", "stt", "llm", "tts", "turn"]

    run(scenario())


def test_a_port_in_use_is_one_clear_line_and_an_exit_code() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        kinds = [
            part
            for kind in ("vad", "stt", "llm", "tts", "turn")
            for part in (f"--{kind}", "scripted")
        ]
        done = subprocess.run(
            [sys.executable, "-m", "s2s_actors", "serve", "--port", str(port), *kinds],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert f"port {port}" in done.stderr
        assert "Traceback" not in done.stderr
