"""The port answers whatever connects to it, and lets go of everything in the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from s2s_actors.actors.messages import Claim
from s2s_actors.errors import SetupError
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.listener import Listener, bind
from s2s_actors.server.options import ServerOptions
from tests.server.boards import FixedBoard, no_load
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


def test_a_port_in_use_is_one_clear_line() -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            with pytest.raises(SetupError, match=f"port {port} on 127.0.0.1 is in use") as error:
                bind("127.0.0.1", port)
            assert error.value.hint is not None
            with pytest.raises(SetupError, match="in use"):
                async with listening(FakePool(), port=port):
                    pass

    run(scenario())


def test_a_port_that_two_servers_have_bound_goes_to_the_first_that_listens() -> None:
    first, second = bind("127.0.0.1", 0), socket.socket()
    second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    second.bind(first.getsockname())
    second.listen()

    async def scenario() -> None:
        endpoints = Endpoints(
            FixedBoard(), (), health=no_load(), is_draining=lambda: False, show_session_ids=False
        )
        with pytest.raises(SetupError, match="in use"):
            async with Listener(ServerOptions(), FakePool(), endpoints, no_load(), sock=first):
                pass

    with first, second:
        run(scenario())


def test_a_bound_port_does_not_take_connections_before_it_is_served() -> None:
    with bind("127.0.0.1", 0) as sock, pytest.raises(ConnectionRefusedError):
        socket.create_connection(sock.getsockname(), timeout=1)


def test_an_address_that_does_not_exist_is_one_clear_line() -> None:
    with pytest.raises(SetupError, match=r"can't listen on 203\.0\.113\.1"):
        bind("203.0.113.1", 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", ""])  # noqa: S104
def test_a_free_port_is_chosen_when_asked_for_none(host: str) -> None:
    with bind(host, 0) as sock:
        assert sock.getsockname()[1] > 0


def test_requests_without_an_upgrade_are_answered_in_json() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port:
            for path, expected in [
                ("/health", 200),
                ("/ready", 200),
                ("/v1/pool", 200),
                ("/v1/usage", 200),
                ("/v1/models", 200),
                ("/v1/realtime", 426),
                ("/nothing", 404),
            ]:
                status, headers, _ = await get(port, path)
                assert (path, status) == (path, expected)
                assert headers["Content-Type"] == "application/json"
                assert headers["Server"] == "s2s_actors"
        assert pool.messages == []

    run(scenario())


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /v1/realtime HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000,
        b"POST /v1/pool HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"PUT /v1/pool HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"DELETE /v1/pool HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["post-body", "post", "chunked", "delete"],
)
def test_other_methods_than_get_are_answered_with_405(
    request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            status, headers, body = await http(port, request_)
            assert status == 405
            assert headers["Allow"] == "GET"
            assert json.loads(body)["error"]["code"] == "method_not_allowed"

    with caplog.at_level(logging.INFO):
        run(scenario())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_head_is_refused_without_a_body() -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            status, _, body = await http(port, b"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (status, body) == (405, b"")

    run(scenario())


def test_a_request_that_comes_a_byte_at_a_time_is_understood() -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            for request, expected in [(b"GET /health", b" 200 "), (b"POST /health", b" 405 ")]:
                raw = await RawClient.open(port, handshake=False)
                for byte in request + b" HTTP/1.1\r\nHost: x\r\n\r\n":
                    raw.send(bytes([byte]))
                    await asyncio.sleep(0)
                assert expected in await raw.read_to_end()
                await raw.close()

    run(scenario())


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00\x01\x00\x01", b"hello there\r\n\r\n"])
def test_garbage_is_dropped_without_noise_in_the_log(
    garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, handshake_timeout_s=0.2) as port:
            raw = await RawClient.open(port, handshake=False)
            raw.send(garbage)
            await raw.read_to_end()
            await raw.close()
        assert pool.messages == []

    with caplog.at_level(logging.INFO):
        run(scenario())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_client_that_never_sends_its_request_is_cut() -> None:
    async def scenario() -> None:
        async with listening(FakePool(), handshake_timeout_s=0.1) as port:
            raw = await RawClient.open(port, handshake=False)
            assert await raw.read_to_end() == b""
            await raw.close()

    run(scenario())


def test_the_realtime_subprotocol_is_answered_only_when_offered() -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            key = Subprotocol("openai-insecure-api-key.sk-secret")
            async with client(port, subprotocols=[key, Subprotocol("realtime")]) as ws:
                assert ws.subprotocol == "realtime"
            async with client(port) as ws:
                assert ws.subprotocol is None

    run(scenario())


def test_a_refused_handshake_reaches_the_client_as_http() -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool) as port:
            for path, headers, expected in [
                ("/v1/realtime?call_id=rtc_1", {}, 404),
                ("/v1/realtime?model=m", {"OpenAI-Beta": "realtime=v1"}, 400),
                ("/v1/pool", {}, 404),
            ]:
                with pytest.raises(InvalidStatus) as refused:
                    async with client(port, path, additional_headers=headers):
                        pass
                assert refused.value.response.status_code == expected
        assert pool.messages == []

    run(scenario())


def test_no_key_transcript_or_audio_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with listening(FakePool()) as port:
            headers = {"Authorization": "Bearer sk-canary"}
            async with client(port, additional_headers=headers) as ws:
                await receive(ws)
                await ws.send('{"type":"input_audio_buffer.append","audio":"canary=="}')
                await ws.send('{"type":"canary"}')
                await receive(ws)

    with caplog.at_level(logging.DEBUG):
        run(scenario())
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("websockets.client")]
    assert ours
    assert not [line for line in ours if "canary" in line]


def test_closing_the_listener_ends_sessions_and_cuts_what_hangs() -> None:
    async def scenario() -> None:
        pool = FakePool()
        timeouts = {"write_timeout_s": 60, "handshake_timeout_s": 60, "close_timeout_s": 0.2}
        async with contextlib.AsyncExitStack() as stack:
            port = await stack.enter_async_context(
                listening(pool, board=None, health=None, **timeouts)
            )
            silent = await RawClient.open(port, handshake=False)
            stuck = await RawClient.open(port, limit=1024)
            (claim,) = await pool.got(Claim)
            for _ in range(200):
                claim.client.send(b"x" * 100_000)
            claim.client.close(1001, "bye")
            polite = await client(port)
            await receive(polite)
            reading = asyncio.create_task(receive(polite))
            async with asyncio.timeout(PATIENCE_S):
                await stack.aclose()
        with pytest.raises(ConnectionClosed) as closed:
            await reading
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
        assert pool.settled()
        for raw in (silent, stuck):
            await raw.close()

    run(scenario())


@pytest.mark.parametrize("wanted", [False, True])
def test_compression_is_negotiated_only_if_the_operator_wants_it(*, wanted: bool) -> None:
    async def scenario() -> None:
        async with (
            listening(FakePool(), compression=wanted) as port,
            client(port, compression="deflate") as ws,
        ):
            assert bool(ws.protocol.extensions) is wanted

    run(scenario())
