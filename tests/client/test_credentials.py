"""Our own clients show the key of the environment, to the server that was named and to no other."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from s2s_actors.client.connection import connected
from s2s_actors.client.credentials import API_KEY_ENV, authorization
from s2s_actors.client.http_get import get_json
from s2s_actors.errors import CapacityError, SetupError
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from tests.server.harness import FakePool, listening, run

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-s2s-canary"


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives one answer; its port, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(2)

        def serve() -> None:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            with client:
                asked.append(client.recv(65536))
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], asked
        thread.join()


async def opened(url: str) -> str:
    async with connected(url, timeout_s=5) as connection:
        return connection.first.type


def test_a_session_opens_with_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        door = Door(keys=KeyRing([ApiKey("mine", hash_of(KEY))]))
        async with listening(FakePool(), door=door) as port:
            url = f"ws://127.0.0.1:{port}"
            monkeypatch.delenv(API_KEY_ENV, raising=False)
            with pytest.raises(SetupError, match="HTTP 401") as refused:
                await opened(url)
            assert API_KEY_ENV in (refused.value.hint or "")
            monkeypatch.setenv(API_KEY_ENV, KEY)
            assert await opened(url) == "session.created"

    run(scenario())


def test_who_is_turned_away_for_now_is_no_fault_of_the_setup() -> None:
    async def scenario() -> None:
        async with listening(FakePool(), max_connections=0) as port:
            with pytest.raises(CapacityError, match="503"):
                await opened(f"ws://127.0.0.1:{port}")

    run(scenario())


@pytest.mark.parametrize("key", ["two words", "ключ", "line\nbreak"])
def test_what_can_be_no_key_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv(API_KEY_ENV, key)
    with pytest.raises(SetupError, match=API_KEY_ENV) as refused:
        authorization()
    assert key not in str(refused.value)


@pytest.mark.parametrize("key", ["", "  "])
def test_without_a_key_none_is_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(API_KEY_ENV, key)
    assert authorization() == {}


def test_a_websocket_does_not_carry_the_key_to_where_a_redirect_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(API_KEY_ENV, KEY)
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        location = f"ws://127.0.0.1:{elsewhere.getsockname()[1]}/v1/realtime"
        redirect = f"HTTP/1.1 307 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        with (
            answering(redirect.encode()) as (port, asked),
            pytest.raises(SetupError, match="HTTP 307"),
        ):
            asyncio.run(opened(f"ws://127.0.0.1:{port}"))
    assert KEY.encode() in asked[0]


def test_a_get_does_not_carry_the_key_to_where_a_redirect_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(API_KEY_ENV, KEY)
    pool = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    with answering(pool) as (elsewhere, asked_there):
        location = f"http://127.0.0.1:{elsewhere}/v1/pool"
        redirect = f"HTTP/1.1 307 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        with answering(redirect.encode()) as (port, asked):
            assert get_json(f"http://127.0.0.1:{port}/v1/pool") == {}
    assert KEY.encode() in asked[0]
    assert KEY.encode() not in asked_there[0]
