"""A key's limits hold on the port, and what it has is given back however a session ends."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from s2s_actors.actors.messages import Claim, ClientFrame
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from tests.server.harness import (
    REFUSED,
    FakePool,
    RawClient,
    client,
    listening,
    receive,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from websockets.asyncio.client import ClientConnection, connect


def door(**limits: int) -> Door:
    """One key with limits, and one without."""
    keys = [ApiKey("mine", hash_of("mine"), **limits), ApiKey("other", hash_of("other"))]
    return Door(keys=KeyRing(keys))


def caller(port: int, key: str = "mine") -> connect:
    return client(port, additional_headers={"Authorization": f"Bearer {key}"})


def append(seconds: float) -> str:
    audio = base64.b64encode(bytes(int(48_000 * seconds))).decode()
    return json.dumps({"type": "input_audio_buffer.append", "audio": audio})


async def denied(ws: ClientConnection) -> tuple[str, str, int]:
    """Code and message of the error, and the code with which the server then closes."""
    error = (await receive(ws))["error"]
    with pytest.raises(ConnectionClosed) as closed:
        await receive(ws)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.reason == error["message"][:123]
    return error["code"], error["message"], closed.value.rcvd.code


def test_sessions_beyond_those_of_the_key_are_told_so_and_claim_nothing() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, door=door(max_sessions=1)) as port, caller(port) as first:
            await receive(first)
            async with caller(port) as second:
                code, message, close_code = await denied(second)
            assert (code, close_code) == ("session_limit_reached", 1013)
            assert "1 sessions at a time" in message
            assert "Try again in 1 s." in message
            assert len(pool.messages) == 1
            async with caller(port, "other") as ws:
                assert (await receive(ws))["type"] == "session.created"
            await first.send('{"type":"input_audio_buffer.clear"}')
            await pool.inlet.got(ClientFrame)
        assert pool.settled()

    run(scenario())


def test_too_many_new_sessions_a_minute_are_told_when_to_come_back() -> None:
    async def scenario() -> None:
        async with listening(FakePool(), door=door(sessions_per_minute=2)) as port:
            for _ in range(2):
                async with caller(port) as ws:
                    await receive(ws)
            async with caller(port) as ws:
                code, message, close_code = await denied(ws)
            assert (code, close_code) == ("rate_limit_exceeded", 1013)
            assert "Try again in 60 s." in message

    run(scenario())


async def says_goodbye(port: int, pool: FakePool) -> None:
    async with caller(port) as ws:
        await receive(ws)
    await pool.ended()


async def resets_while_it_claims(port: int, pool: FakePool) -> None:
    pool.answer = None
    raw = await RawClient.open(port, handshake=False)
    raw.send(
        b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer mine\r\n\r\n"
    )
    await pool.got(Claim)
    raw.reset()
    await pool.until(pool.settled)
    pool.answer = "grant"


async def is_refused_by_the_pool(port: int, pool: FakePool) -> None:
    pool.answer = REFUSED
    async with caller(port) as ws:
        assert (await denied(ws))[0] == REFUSED.code
    pool.answer = "grant"


async def meets_a_pool_that_breaks(port: int, pool: FakePool) -> None:
    puts, put = iter([True]), pool.put

    def breaks_once(message: object) -> None:
        if next(puts, None):
            raise RuntimeError
        put(message)

    pool.put = breaks_once  # type: ignore[method-assign]
    async with caller(port) as ws:
        assert (await denied(ws))[0] == "internal_error"


async def fails_in_mid_session(port: int, pool: FakePool) -> None:
    async with caller(port) as ws:
        await receive(ws)
        pool.inlet.error = RuntimeError()
        await ws.send('{"type":"input_audio_buffer.clear"}')
        with pytest.raises(ConnectionClosed):
            await receive(ws)
    pool.inlet.error = None


@pytest.mark.parametrize(
    "leaves",
    [
        says_goodbye,
        resets_while_it_claims,
        is_refused_by_the_pool,
        meets_a_pool_that_breaks,
        fails_in_mid_session,
    ],
)
def test_a_place_is_given_back_once_however_the_session_ends(
    leaves: Callable[[int, FakePool], Awaitable[None]],
) -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, door=door(max_sessions=1)) as port:
            await leaves(port, pool)
            # Given back twice, there would now be two places.
            async with caller(port) as first:
                assert (await receive(first))["type"] == "session.created"
                async with caller(port) as second:
                    assert (await denied(second))[0] == "session_limit_reached"

    run(scenario())


def test_audio_beyond_the_limit_is_not_passed_on_and_ends_the_session() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, door=door(audio_minutes_per_hour=1)) as port:
            async with caller(port) as ws:
                await receive(ws)
                await ws.send(append(30))
                await ws.send(append(30))
                await pool.inlet.got(ClientFrame, 2)
                await ws.send(append(0.1))
                code, message, close_code = await denied(ws)
            assert (code, close_code) == ("rate_limit_exceeded", 1013)
            assert "Try again in 3600 s." in message
            await pool.ended()
            assert len(pool.inlet.messages) == 2
            async with caller(port) as ws:
                assert (await denied(ws))[0] == "rate_limit_exceeded"
            async with caller(port, "other") as ws:
                await receive(ws)
                await ws.send(append(61))
                await pool.inlet.got(ClientFrame, 3)

    run(scenario())


def test_audio_that_came_before_the_unit_counts_as_well() -> None:
    async def scenario() -> None:
        pool = FakePool(None)
        async with listening(pool, door=door(audio_minutes_per_hour=1)) as port:
            async with caller(port) as ws:
                (claim,) = await pool.got(Claim)
                for _ in range(3):
                    await ws.send(append(25))
                await (await ws.ping())
                pool.grant(claim)
                assert (await receive(ws))["type"] == "session.created"
                assert (await denied(ws))[0] == "rate_limit_exceeded"
            assert len(pool.inlet.messages) == 2
            await pool.ended()

    run(scenario())


def test_a_removed_key_ends_no_session_and_opens_none(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        pool, locked = FakePool(), door()
        async with listening(pool, door=locked) as port, caller(port) as ws:
            await receive(ws)
            locked.keys = KeyRing([ApiKey("other", hash_of("other"))])
            await ws.send(append(1))
            await pool.inlet.got(ClientFrame)
            assert (await status_of(port))[0] == 401

    run(scenario())
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_the_log_tells_which_key_a_session_came_with_and_which_limit_it_met(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")

    async def scenario() -> None:
        async with listening(FakePool(), door=door(max_sessions=1)) as port, caller(port) as ws:
            await receive(ws)
            async with caller(port) as second:
                await denied(second)

    run(scenario())
    told = [text.partition(": ")[2] for text in caplog.messages if "key" in text]
    assert told == ["key 'mine'", "key 'mine' gets no session (key_sessions)"]


async def status_of(port: int) -> tuple[int, Any]:
    with pytest.raises(InvalidStatus) as refused:
        async with caller(port):
            pass
    response = refused.value.response
    return response.status_code, response.headers
