"""Whoever is sent away, cut off or not heard is counted, by reasons of the server's own."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import ConnectionClosed, InvalidStatus

from s2s_actors.actors.messages import Claim, ClientFrame
from s2s_actors.server.door import Door
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.origin import Origins
from tests.server.boards import SERVING, FixedBoard, no_load, unit
from tests.server.harness import FakePool, RawClient, client, http, listening, receive, run
from tests.server.test_key_limits import append

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from s2s_actors.actors.tally import Tallies

CLEAR = '{"type":"input_audio_buffer.clear"}'
RIGHT = {"Authorization": "Bearer mine"}
STRANGE_PAGE = "https://evil.example"
UPGRADE = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
)


def door(**limits: int) -> Door:
    """One key, with limits."""
    return Door(keys=KeyRing([ApiKey("mine", hash_of("mine"), **limits)]))


def tallied(scenario: Callable[[int, FakePool], Awaitable[None]], **options: Any) -> Tallies:
    """What was counted while something happened to a listener, to its end."""
    board, pool = FixedBoard(), FakePool()

    async def whole() -> None:
        async with listening(pool, board=board, **options) as port:
            await scenario(port, pool)

    run(whole())
    return board.tally.read()


def reasons_told() -> set[str]:
    """For which reasons there is a series before anything has happened."""
    endpoints = Endpoints(
        FixedBoard(), (), health=no_load(), is_draining=lambda: False, show_session_ids=True
    )
    text = endpoints.answer("/metrics").body.decode()
    return {
        sample.labels["reason"]
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "s2s_refused_total"
    }


async def ask(port: int, path: str, secret: str = "") -> tuple[int, str]:
    """Status and body of ``GET path``, asked with a key."""
    key = f"Authorization: Bearer {secret}\r\n" if secret else ""
    status, _, body = await http(
        port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{key}\r\n".encode()
    )
    return status, body.decode()


async def turned_away(port: int, **options: Any) -> None:
    with pytest.raises(InvalidStatus):
        async with client(port, **options):
            pass


async def told_so(port: int) -> None:
    """A session that begins and is ended by its key's limits."""
    async with client(port, additional_headers=RIGHT) as ws:
        assert (await receive(ws))["type"] == "error"
        with pytest.raises(ConnectionClosed):
            await receive(ws)


@asynccontextmanager
async def in_session(port: int, **options: Any) -> AsyncIterator[Any]:
    async with client(port, additional_headers=RIGHT, **options) as ws:
        await receive(ws)
        yield ws


# --- at the door --------------------------------------------------------------------------


async def _shows_nothing(port: int, _: FakePool) -> None:
    await turned_away(port)


async def _shows_a_wrong_key(port: int, _: FakePool) -> None:
    await turned_away(port, additional_headers={"Authorization": "Bearer sk-s2s-canary"})


async def _asks_for_figures_with_a_wrong_key(port: int, _: FakePool) -> None:
    assert (await ask(port, "/metrics", "sk-s2s-canary"))[0] == 401


async def _is_a_page_of_somebody_else(port: int, _: FakePool) -> None:
    await turned_away(port, additional_headers=RIGHT, origin=STRANGE_PAGE)


async def _wants_the_beta(port: int, _: FakePool) -> None:
    await turned_away(port, additional_headers={**RIGHT, "OpenAI-Beta": "realtime=v1"})


async def _opens_no_websocket(port: int, _: FakePool) -> None:
    assert (await http(port, UPGRADE + b"Authorization: Bearer mine\r\n\r\n"))[0] == 400


# --- by the limits of a key -----------------------------------------------------------------


async def _has_too_many_sessions(port: int, _: FakePool) -> None:
    async with in_session(port):
        await told_so(port)


async def _begins_too_many_sessions(port: int, _: FakePool) -> None:
    async with in_session(port):
        pass
    await told_so(port)


async def _sends_too_much_audio(port: int, pool: FakePool) -> None:
    async with in_session(port) as ws:
        await ws.send(append(30))
        await ws.send(append(30))
        await ws.send(append(1))
        assert (await receive(ws))["error"]["code"] == "rate_limit_exceeded"
    await pool.ended()


@pytest.mark.parametrize(
    ("happens", "limits", "reason"),
    [
        (_shows_nothing, {}, "missing_api_key"),
        (_shows_a_wrong_key, {}, "invalid_api_key"),
        (_asks_for_figures_with_a_wrong_key, {}, "invalid_api_key"),
        (_is_a_page_of_somebody_else, {}, "origin_not_allowed"),
        (_wants_the_beta, {}, "invalid_request"),
        (_opens_no_websocket, {}, "invalid_request"),
        (_has_too_many_sessions, {"max_sessions": 1}, "key_sessions"),
        (_begins_too_many_sessions, {"sessions_per_minute": 1}, "key_sessions_per_minute"),
        (_sends_too_much_audio, {"audio_minutes_per_hour": 1}, "key_audio_minutes"),
    ],
)
def test_who_is_sent_away_is_counted_once_by_a_reason_that_has_a_series(
    happens: Callable[[int, FakePool], Awaitable[None]], limits: Mapping[str, int], reason: str
) -> None:
    assert tallied(happens, door=door(**limits)).refused == {reason: 1}
    assert reason in reasons_told()


def test_connections_for_which_there_is_no_room_are_counted() -> None:
    async def too_many(port: int, _: FakePool) -> None:
        assert (await ask(port, "/health"))[0] == 503

    async def too_many_newcomers(port: int, _: FakePool) -> None:
        silent = [await RawClient.open(port, handshake=False) for _ in range(16)]
        assert (await ask(port, "/health"))[0] == 429
        for each in silent:
            await each.close()

    assert tallied(too_many, max_connections=0).refused == {"too_many_connections": 1}
    # Of 64, a quarter may be newcomers.
    assert tallied(too_many_newcomers, max_connections=64).refused == {"too_many_newcomers": 1}
    assert {"too_many_connections", "too_many_newcomers"} <= reasons_told()


def test_who_sees_less_of_the_pool_is_not_sent_away() -> None:
    async def looks(port: int, _: FakePool) -> None:
        assert (await ask(port, "/v1/pool"))[0] == 200

    assert tallied(looks, door=door()).refused == {}


def test_the_name_of_a_key_is_in_no_figure() -> None:
    board, locked = FixedBoard(), door(max_sessions=1)

    async def scenario() -> str:
        async with listening(FakePool(), board=board, door=locked) as port:
            async with in_session(port):
                await told_so(port)
            return (await ask(port, "/metrics", "mine"))[1]

    text = run(scenario())
    assert 's2s_refused_total{reason="key_sessions"} 1.0' in text
    assert "mine" not in text


# --- in a session ---------------------------------------------------------------------------


def test_a_client_that_does_not_read_is_counted_when_it_is_cut() -> None:
    async def scenario(port: int, pool: FakePool) -> None:
        raw = await RawClient.open(port, limit=1024)
        await pool.got(Claim)
        while not pool.unit.messages:
            pool.client.send(b"x" * 1_000_000)
            await asyncio.sleep(0)
        await pool.ended()
        await raw.close()

    seen = tallied(scenario, write_timeout_s=60, outbox_limit_bytes=30_000_000)
    assert seen.clients_cut == {"not_reading": 1}


def test_a_client_that_does_not_answer_pings_is_counted_and_one_that_leaves_is_not() -> None:
    async def silent(port: int, pool: FakePool) -> None:
        raw = await RawClient.open(port)
        await pool.ended()
        await raw.close()

    async def leaves(port: int, pool: FakePool) -> None:
        raw = await RawClient.open(port)
        await pool.got(Claim)
        raw.reset()
        await pool.ended()

    pings = {"ping_interval_s": 0.05, "ping_timeout_s": 0.05}
    assert tallied(silent, **pings).clients_cut == {"no_pong": 1}
    assert tallied(leaves).clients_cut == {}


def test_events_for_which_there_is_no_room_are_counted() -> None:
    async def scenario(port: int, pool: FakePool) -> None:
        async with AsyncExitStack() as stack:
            ws = await stack.enter_async_context(client(port))
            await receive(ws)
            await ws.send(CLEAR)
            await pool.inlet.got(ClientFrame)
            pool.inlet.full = True
            for _ in range(3):
                await ws.send(CLEAR)
                assert (await receive(ws))["error"]["code"] == "input_backpressure"
        await pool.ended()

    assert tallied(scenario).events_dropped == 3


def test_events_that_came_before_the_unit_and_did_not_fit_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("s2s_actors.server.intake.EARLY_LIMIT_FRAMES", 2)

    async def scenario(port: int, pool: FakePool) -> None:
        pool.answer = None
        async with client(port) as ws:
            (claim,) = await pool.got(Claim)
            for _ in range(5):
                await ws.send(CLEAR)
            await (await ws.ping())
            pool.grant(claim)
            await receive(ws)
        await pool.ended()

    assert tallied(scenario).events_dropped == 3


# --- what /ready says -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "draining", "figure"),
    [
        (FixedBoard(), False, "1.0"),
        (FixedBoard(), True, "0.0"),
        (FixedBoard(unit(0, "quarantined")), False, "0.0"),
        (FixedBoard(pool=replace(SERVING, failing=("llm",))), False, "0.0"),
        (FixedBoard(pool=replace(SERVING, server_state="starting")), False, "0.0"),
    ],
)
def test_the_figure_says_what_ready_says(board: FixedBoard, draining: bool, figure: str) -> None:
    endpoints = Endpoints(
        board, (), health=no_load(), is_draining=lambda: draining, show_session_ids=True
    )
    assert f"s2s_ready {figure}\n" in endpoints.answer("/metrics").body.decode()
    assert endpoints.answer("/ready").status_code == (200 if figure == "1.0" else 503)


def test_a_page_that_may_come_in_is_not_counted() -> None:
    async def scenario(port: int, _: FakePool) -> None:
        async with client(port, origin=STRANGE_PAGE) as ws:
            await receive(ws)

    allowed = Door(Origins(frozenset({STRANGE_PAGE})))
    assert tallied(scenario, door=allowed).refused == {}
