"""A connection carries events both ways, and always gives its unit back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, ConnectionClosedError

from s2s_actors.actors.messages import CancelClaim, Claim, ClientFrame, EndSession, QueueMoved
from tests.server.harness import (
    CREATED,
    REFUSED,
    FakePool,
    RawClient,
    client,
    listening,
    receive,
    run,
)
from tests.support import strict_events

CLEAR = '{"type":"input_audio_buffer.clear","event_id":"c1"}'
COMMIT = '{"type":"input_audio_buffer.commit"}'


async def open_raw(port: int, pool: FakePool, **options: Any) -> RawClient:
    """A raw client that has its session."""
    raw = await RawClient.open(port, **options)
    await pool.got(Claim)
    return raw


def test_events_go_both_ways_and_carry_the_lease() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port, client(port) as ws:
            assert (await receive(ws))["type"] == "session.created"
            await ws.send(CLEAR)
            (frame,) = await pool.inlet.got(ClientFrame)
            assert frame.lease == pool.accepted[0]
            assert frame.event.event_id == "c1"
            assert frame.cost_bytes == len(CLEAR)
            await asyncio.to_thread(pool.client.send, b'{"type":"x"}')
            assert await receive(ws) == {"type": "x"}
        assert pool.claims[0].session_id == pool.accepted[0].session_id

    run(scenario())


def test_the_claim_says_which_model_the_client_asked_for() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port:
            async with client(port, "/v1/realtime?model=gpt%2Dx"):
                pass
            async with client(port, "/v1/realtime"):
                pass
        assert [claim.wish.model for claim in pool.claims] == ["gpt-x", None]

    run(scenario())


@pytest.mark.parametrize(
    ("raw", "event_id"),
    [
        ("{", None),
        ("[]", None),
        ("5", None),
        ("null", None),
        ('{"type":"no.such.event","event_id":"z"}', "z"),
        ('{"type":"input_audio_buffer.append","event_id":"y","audio":5}', "y"),
        ("[" * 1_000_000, None),
        (b"\x00\x01", None),
    ],
    ids=["cut", "array", "number", "null", "unknown", "wrong-type", "deep", "binary"],
)
def test_a_malformed_message_is_answered_and_the_session_goes_on(
    raw: str | bytes, event_id: str | None
) -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port, client(port) as ws:
            await receive(ws)
            await ws.send(raw)
            event = await receive(ws)
            assert event["type"] == "error"
            assert event["error"]["event_id"] == event_id
            assert event["error"]["type"] == "invalid_request_error"
            await ws.send(CLEAR)
            await pool.inlet.got(ClientFrame)
        assert pool.inlet.types == ["input_audio_buffer.clear"]

    run(scenario())


def test_an_event_for_which_there_is_no_room_is_named_and_the_rest_goes_on() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port, client(port) as ws:
            await receive(ws)
            pool.inlet.full = True
            await ws.send(CLEAR)
            error = (await receive(ws))["error"]
            assert (error["code"], error["event_id"]) == ("input_backpressure", "c1")
            pool.inlet.full = False
            await ws.send(COMMIT)
            await pool.inlet.got(ClientFrame)
        assert pool.inlet.types == ["input_audio_buffer.commit"]

    run(scenario())


def test_session_created_comes_before_an_error_about_an_earlier_frame() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port, client(port) as ws:
            (claim,) = await pool.got(Claim)
            pool.grant(claim, greet=False)
            await ws.send("{")
            await ws.send(CLEAR)
            await pool.inlet.got(ClientFrame)
            claim.client.send(CREATED)
            assert (await receive(ws))["type"] == "session.created"
            assert (await receive(ws))["type"] == "error"

    run(scenario())


def test_what_comes_before_the_unit_is_known_is_kept_in_order() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port, client(port) as ws:
            (claim,) = await pool.got(Claim)
            # More than the library's own queue holds: it must be read, not left there.
            for _ in range(40):
                await ws.send(CLEAR)
                await ws.send(COMMIT)
            await (await ws.ping())
            assert pool.inlet.messages == []
            pool.grant(claim)
            await pool.inlet.got(ClientFrame, 80)
            assert (await receive(ws))["type"] == "session.created"
        assert pool.inlet.types == ["input_audio_buffer.clear", "input_audio_buffer.commit"] * 40

    run(scenario())


def test_too_much_before_the_unit_is_known_is_dropped_and_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("s2s_actors.server.intake.EARLY_LIMIT_FRAMES", 2)

    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port, client(port) as ws:
            (claim,) = await pool.got(Claim)
            for _ in range(5):
                await ws.send(CLEAR)
            await (await ws.ping())
            pool.grant(claim)
            assert (await receive(ws))["type"] == "session.created"
            error = (await receive(ws))["error"]
            assert error["code"] == "input_backpressure"
            assert error["message"].startswith("3 events")
        assert len(pool.inlet.messages) == 2

    run(scenario())


def test_a_message_over_the_limit_closes_with_1009_and_the_unit_comes_back() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, max_frame_bytes=1000) as port, client(port) as ws:
            await receive(ws)
            await ws.send("x" * 1001)
            with pytest.raises(ConnectionClosedError) as closed:
                await receive(ws)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
            (end,) = await pool.ended()
            assert end.lease == pool.accepted[0]

    run(scenario())


def test_a_client_that_goes_on_with_an_oversize_message_still_learns_why_it_was_closed() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, max_frame_bytes=1000) as port:
            raw = await open_raw(port, pool)
            # The header of a text frame of 2 MB, and then the frame.
            raw.send(b"\x81\xff" + (2_000_000).to_bytes(8) + bytes(4))
            raw.send(b"x" * 2_000_000)
            assert b"\x03\xf1" in await raw.read_to_end()  # 1009
            await raw.close()

    run(scenario())


def test_what_comes_after_the_session_has_ended_goes_nowhere() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, close_timeout_s=0.1) as port:
            raw = await open_raw(port, pool)
            pool.client.close(1000, "bye")
            await pool.ended()
            raw.send_frame(0x1, CLEAR.encode())
            await raw.read_to_end()
            await raw.close()
        assert pool.inlet.messages == []

    run(scenario())


def test_a_refused_client_is_told_why_and_closed_at_once() -> None:
    async def scenario() -> None:
        pool = FakePool(REFUSED)
        async with listening(pool) as port, client(port) as ws:
            error = await receive(ws)
            assert error["type"] == "error"
            assert error["error"]["code"] == "session_limit_reached"
            assert "Try again in 5 s" in error["error"]["message"]
            with pytest.raises(ConnectionClosed) as closed:
                await receive(ws)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
            assert "Every unit is in use" in closed.value.rcvd.reason
        assert pool.messages == pool.claims
        assert pool.unit.messages == []

    run(scenario())


def test_what_the_session_said_before_it_closes_still_arrives() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port, client(port) as ws:
            await receive(ws)
            for number in range(100):
                pool.client.send(json.dumps({"n": number}).encode())
            pool.client.close(1001, "that is all")
            pool.client.send(b'{"n":"too late"}')
            assert [(await receive(ws))["n"] for _ in range(100)] == list(range(100))
            with pytest.raises(ConnectionClosed) as closed:
                await receive(ws)
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1001, "that is all")
            await pool.ended()
        assert len(pool.unit.messages) == 1

    run(scenario())


def test_a_close_frame_ends_the_session_though_tcp_stays_open() -> None:
    async def scenario() -> None:
        pool = FakePool()
        # A close timeout longer than the test's patience: nothing may wait for it.
        async with listening(pool, close_timeout_s=60) as port:
            raw = await open_raw(port, pool)
            raw.send_frame(0x8, b"\x03\xe8")
            await pool.ended()
            await raw.close()

    run(scenario())


def test_a_close_frame_that_comes_with_other_frames_ends_the_session_too() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool, close_timeout_s=60) as port:
            raw = await RawClient.open(port)
            await pool.got(Claim)
            for _ in range(50):
                raw.send_frame(0x1, CLEAR.encode())
            raw.send_frame(0x8, b"\x03\xe8")
            await pool.got(CancelClaim)
            await raw.close()

    run(scenario())


def test_half_closing_tcp_ends_the_session_though_the_client_reads_nothing() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, close_timeout_s=60, write_timeout_s=60) as port:
            raw = await open_raw(port, pool, limit=1024)
            for _ in range(200):
                pool.client.send(b"x" * 100_000)
            raw.writer.write_eof()
            await pool.ended()
            raw.reset()

    run(scenario())


def test_half_closing_tcp_ends_the_session() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, close_timeout_s=60) as port:
            raw = await open_raw(port, pool)
            raw.writer.write_eof()
            await pool.ended()
            await raw.close()

    run(scenario())


def test_a_client_that_never_closes_tcp_is_cut_after_the_close_timeout() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, close_timeout_s=0.05) as port:
            raw = await open_raw(port, pool)
            raw.send_frame(0x8, b"\x03\xe8")
            await raw.read_to_end()
            await raw.close()

    run(scenario())


def test_a_client_that_does_not_answer_the_close_frame_is_cut() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, close_timeout_s=0.05) as port:
            raw = await open_raw(port, pool)
            pool.client.close(1000, "bye")
            await pool.ended()
            assert b"bye" in await raw.read_to_end()
            await raw.close()

    run(scenario())


@pytest.mark.parametrize("answer", ["grant", None])
def test_a_reset_at_any_moment_gives_the_unit_or_the_claim_back_once(answer: str | None) -> None:
    async def scenario() -> None:
        pool = FakePool(answer)
        async with listening(pool) as port:
            for number in range(60):
                raw = await RawClient.open(port, handshake=number % 3 > 0)
                for _ in range(number % 7):
                    await asyncio.sleep(0)
                if number % 3 == 2:
                    raw.send_frame(0x1, CLEAR.encode())
                    raw.send_frame(0x8, b"")
                raw.reset()
        # The listener has ended every connection: nothing more can come.
        assert pool.claims
        assert pool.settled()

    run(scenario())


def test_a_unit_that_is_granted_just_as_the_client_leaves_is_given_back() -> None:
    async def scenario(turns: int) -> None:
        pool = FakePool(None)
        async with listening(pool) as port:
            raw = await RawClient.open(port)
            (claim,) = await pool.got(Claim)
            raw.reset()
            for _ in range(turns):
                await asyncio.sleep(0)
            granted = await asyncio.to_thread(pool.grant, claim)
        assert pool.settled()
        assert granted == (len(pool.unit.of(EndSession)) == 1)

    for turns in range(12):
        run(scenario(turns))


def test_a_client_that_leaves_the_queue_gives_its_claim_up() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port:
            async with client(port):
                (claim,) = await pool.got(Claim)
            (cancel,) = await pool.got(CancelClaim)
            assert cancel.session_id == claim.session_id
            assert not pool.grant(claim)

    run(scenario())


def test_a_client_that_waits_is_told_where_it_stands_if_it_has_asked_for_that() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with (
            listening(pool) as port,
            client(port, "/v1/realtime?queue_events=1") as ws,
        ):
            await ws.send("{")
            (claim,) = await pool.got(Claim)
            assert claim.news is not None
            claim.news.put(QueueMoved(2, None))
            told = await receive(ws)
            strict_events.validate(told)
            del told["event_id"]
            assert told == {"type": "queue.position", "position": 2, "estimated_wait_s": None}
            claim.news.put(QueueMoved(1, 12.345))
            told = await receive(ws)
            assert (told["position"], told["estimated_wait_s"]) == (1, 12.3)
            pool.grant(claim)
            types = [(await receive(ws))["type"] for _ in range(2)]
            assert types == ["session.created", "error"]

    run(scenario())


@pytest.mark.parametrize("path", ["/v1/realtime", "/v1/realtime?queue_events=0"])
def test_a_client_that_waits_is_told_nothing_before_its_session_unless_it_asks(path: str) -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port, client(port, path) as ws:
            (claim,) = await pool.got(Claim)
            assert claim.news is None
            pool.grant(claim)
            assert (await receive(ws))["type"] == "session.created"

    run(scenario())


def test_news_of_something_else_than_the_line_are_a_fault() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool) as port, client(port, "/v1/realtime?queue_events=1"):
            (claim,) = await pool.got(Claim)
            assert claim.news is not None
            with pytest.raises(TypeError):
                claim.news.put("hello")

    run(scenario())


def test_a_client_that_does_not_read_is_cut_and_the_unit_comes_back() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, write_timeout_s=0.2, close_timeout_s=60) as port:
            raw = await open_raw(port, pool, limit=1024)
            for _ in range(200):
                pool.client.send(b"x" * 100_000)
            (end,) = await pool.ended()
            assert end.reason == "unresponsive"
            await raw.read_to_end()
            await raw.close()

    run(scenario())


def test_a_client_for_which_too_much_waits_is_cut_at_once() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, write_timeout_s=60, outbox_limit_bytes=30_000_000) as port:
            raw = await open_raw(port, pool, limit=1024)
            while not pool.unit.messages:
                pool.client.send(b"x" * 1_000_000)
                await asyncio.sleep(0)
            await pool.ended()
            await raw.close()

    run(scenario())


def test_a_client_that_does_not_answer_pings_is_found() -> None:
    async def scenario() -> None:
        pool = FakePool()
        pings = {"ping_interval_s": 0.05, "ping_timeout_s": 0.05}
        async with listening(pool, board=None, health=None, close_timeout_s=60, **pings) as port:
            raw = await open_raw(port, pool)
            await pool.ended()
            await raw.close()

    run(scenario())


def test_a_client_that_says_nothing_keeps_its_session() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, ping_interval_s=0.02, handshake_timeout_s=0.1) as port:
            async with client(port) as ws:
                await receive(ws)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await ws.recv()
                assert pool.unit.messages == []
            await pool.ended()

    run(scenario())


def test_the_socket_is_read_while_nobody_takes_the_events() -> None:
    async def scenario() -> None:
        pool = FakePool()
        pool.inlet.full = True
        async with listening(pool) as port, client(port) as ws:
            await receive(ws)
            for _ in range(500):
                await ws.send(CLEAR)
            await (await ws.ping())
            codes = {(await receive(ws))["error"]["code"] for _ in range(500)}
        assert codes == {"input_backpressure"}

    run(scenario())


def test_a_fault_of_the_server_closes_with_1011_and_the_unit_comes_back() -> None:
    async def scenario() -> None:
        pool = FakePool()
        pool.inlet.error = RuntimeError("broken")
        async with listening(pool) as port, client(port) as ws:
            await receive(ws)
            await ws.send(CLEAR)
            with pytest.raises(ConnectionClosedError) as closed:
                await receive(ws)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1011
            assert "broken" not in closed.value.rcvd.reason
            await pool.ended()

    run(scenario())


def test_a_fault_that_comes_together_with_an_overflow_still_ends_the_connection() -> None:
    async def scenario() -> None:
        pool = FakePool()
        pool.inlet.error = RuntimeError("broken")
        async with listening(pool, outbox_limit_events=1) as port, client(port) as ws:
            await receive(ws)
            put = pool.inlet.put

            def overflow(message: object) -> None:
                for _ in range(3):
                    pool.client.send(b"x")
                put(message)

            pool.inlet.put = overflow  # type: ignore[method-assign]
            await ws.send(CLEAR)
            with pytest.raises(ConnectionClosedError):
                await receive(ws)
            await pool.ended()

    run(scenario())


def test_a_fault_at_the_claim_is_told_to_the_client() -> None:
    class BrokenPool(FakePool):
        def put(self, message: object) -> None:
            super().put(message)
            if self.claims and not self.of(CancelClaim):
                raise RuntimeError("broken")

    async def scenario() -> None:
        pool = BrokenPool(None)
        async with listening(pool) as port, client(port) as ws:
            assert (await receive(ws))["error"]["code"] == "internal_error"
            with pytest.raises(ConnectionClosedError):
                await receive(ws)
        assert pool.settled()

    run(scenario())


def test_invalid_utf8_ends_the_session_as_the_websocket_protocol_wants_it() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port:
            raw = await open_raw(port, pool)
            raw.send_frame(0x1, b"\xff\xfe")
            assert b"\x03\xef" in await raw.read_to_end()  # 1007
            await pool.ended()
            await raw.close()

    run(scenario())
