"""Strangers take their share of connections and of the log, and no more."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors.tally import Tally
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.sparse_log import SparseLog
from s2s_actors.server.crowd import MOST_TURNED_AWAY, Crowd, CrowdLimits, place_of
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from tests.server.harness import (
    PATIENCE_S,
    FakePool,
    RawClient,
    client,
    get,
    http,
    listening,
    receive,
    run,
)

if TYPE_CHECKING:
    from websockets.http11 import Response

REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def crowd(connections: int, newcomers: int) -> Crowd:
    return Crowd(CrowdLimits(connections, newcomers), ManualClock().monotonic_s, Tally())


def status(refusal: Response | None) -> int | None:
    return None if refusal is None else refusal.status_code


def test_connections_beyond_the_limit_are_turned_away_until_one_leaves() -> None:
    full = crowd(2, 2)
    assert [status(full.enter(place)) for place in ("a", "b", "c")] == [None, None, 503]
    full.answered("a")
    assert status(full.enter("c")) == 503
    full.leave()
    assert status(full.enter("c")) is None


def test_newcomers_of_one_place_leave_room_for_those_of_another() -> None:
    busy = crowd(10, 2)
    assert [status(busy.enter("a")) for _ in range(3)] == [None, None, 429]
    assert status(busy.enter("b")) is None
    busy.answered("a")
    assert status(busy.enter("a")) is None


def test_who_is_turned_away_is_told_when_to_come_back() -> None:
    refusal = crowd(0, 1).enter("a")
    assert refusal is not None
    assert refusal.headers["Retry-After"] == "5"
    assert json.loads(refusal.body)["error"]["code"] == "too_many_connections"


def test_only_so_many_stay_to_read_why() -> None:
    full = crowd(0, 1)
    assert [full.linger() for _ in range(MOST_TURNED_AWAY)] == [True] * MOST_TURNED_AWAY
    assert not full.linger()
    full.lingered()
    assert full.linger()


def test_nothing_is_remembered_of_who_has_gone() -> None:
    passed = crowd(10, 10)
    for number in range(100):
        passed.enter(str(number))
        passed.answered(str(number))
        passed.leave()
    assert not passed._newcomers
    assert passed._count == 0


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (("192.0.2.7", 5), "192.0.2.7"),
        (("::ffff:192.0.2.7", 5, 0, 0), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 5, 0, 2), "fe80::/64"),
        ("", "a local socket"),
        (None, "a local socket"),
    ],
)
def test_a_place_is_an_address_or_a_network_of_version_6(address: object, place: str) -> None:
    assert place_of(address) == place


def test_a_line_stands_for_many_and_comes_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    log = SparseLog(logging.getLogger("s2s_actors.test"), clock.monotonic_s, every_s=10)
    for _ in range(100):
        log.tell("a stranger: %s", "x")
        clock.advance(0.5)
    assert len(caplog.messages) == 5
    assert caplog.messages[0] == "a stranger: x"
    assert caplog.messages[1] == "a stranger: x (and 19 more before it)"


def test_silent_connections_leave_sessions_alone_and_room_for_others() -> None:
    async def scenario() -> None:
        pool = FakePool()
        # Of 64, a quarter may be newcomers.
        async with listening(pool, max_connections=64) as port, client(port) as ws:
            await receive(ws)
            silent = [await RawClient.open(port, handshake=False) for _ in range(16)]
            code, headers, body = await http(port, REQUEST)
            assert (code, headers["Retry-After"]) == (429, "5")
            assert json.loads(body)["error"]["code"] == "too_many_connections"
            await (await ws.ping())
            silent.pop().reset()
            await until_answered(port)
            for each in silent:
                each.reset()

    run(scenario())


def test_who_has_been_answered_is_no_newcomer() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, max_connections=64) as port, AsyncExitStack() as sessions:
            for _ in range(20):  # of 64, 16 may be newcomers
                await receive(await sessions.enter_async_context(client(port)))

    run(scenario())


async def until_answered(port: int) -> None:
    """The server learns in its own time that a connection was reset."""
    async with asyncio.timeout(PATIENCE_S):
        while (await get(port, "/health"))[0] != 200:
            pass


def test_connections_beyond_the_limit_get_an_answer_and_the_others_go_on() -> None:
    async def scenario() -> None:
        async with listening(FakePool(), max_connections=2) as port:
            async with client(port) as first, client(port) as second:
                await receive(first)
                await receive(second)
                assert (await http(port, REQUEST))[0] == 503
                await (await first.ping())
            await until_answered(port)

    run(scenario())


def test_who_is_turned_away_and_stays_is_cut_and_does_not_hold_up_the_end() -> None:
    async def scenario() -> None:
        async with listening(FakePool(), max_connections=0) as port:
            silent = await RawClient.open(port, handshake=False)
            assert await silent.read_to_end() == b""
            await silent.close()
            talkative = await RawClient.open(port, handshake=False)
            talkative.send(REQUEST)
            assert b" 503 " in await talkative.reader.readuntil(b"\r\n\r\n")
            async with asyncio.timeout(PATIENCE_S):
                while not talkative.writer.transport.is_closing():
                    talkative.send(b"x" * 1000)
                    await asyncio.sleep(0)
            await talkative.close()
            last = await RawClient.open(port, handshake=False)
            last.send(REQUEST)
            await last.reader.readuntil(b"\r\n\r\n")
        await last.close()

    run(scenario())


def test_refused_requests_are_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        door = Door(keys=KeyRing([ApiKey("a", hash_of("a"))]))
        async with listening(FakePool(), door=door) as port:
            for _ in range(20):
                raw = await RawClient.open(port, handshake=False)
                raw.send(
                    b"GET /v1/realtime HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n"
                )
                assert b" 401 " in await raw.read_to_end()
                await raw.close()

    run(scenario())
    warnings = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert warnings == ["a request from 127.0.0.1 was refused: 401"]
