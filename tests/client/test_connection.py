"""Every way in which a session can fail to open is one clear line."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from s2s_actors.client.connection import connected
from s2s_actors.errors import CapacityError, SetupError
from tests.support.fake_realtime import Abort, Close, FakeRealtime, SendText, error, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.fake_realtime import Step


def open_and_close(url: str, timeout_s: float = 5.0) -> str:
    async def session() -> str:
        async with connected(url, timeout_s=timeout_s) as connection:
            return connection.first.type

    return asyncio.run(session())


@contextmanager
def tcp_server(answer: bytes | None) -> Iterator[str]:
    """Accept one client and answer with these bytes; None says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                if answer is not None:
                    client.sendall(answer)
                else:
                    client.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def test_a_session_opens_with_its_first_event() -> None:
    with FakeRealtime(opening()) as server:
        assert open_and_close(server.url) == "session.created"


def test_nobody_listening_is_said_with_the_address() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    with pytest.raises(SetupError, match=f"nothing listens at {url}") as caught:
        open_and_close(url)
    assert caught.value.hint == "start one with: s2s-actors serve"


def test_a_full_server_is_a_matter_of_capacity() -> None:
    script: list[Step] = [
        error("session_limit_reached", "All units are in use."),
        Close(1013, "retry in 5 s"),
    ]
    full = r"refused the session: All units are in use\. \(session_limit_reached\)"
    with FakeRealtime(script) as server, pytest.raises(CapacityError, match=full):
        open_and_close(server.url)


def test_a_session_that_is_closed_at_once_shows_the_reason() -> None:
    script = [Close(1013, "retry in 5 s")]
    with FakeRealtime(script) as server, pytest.raises(CapacityError, match="1013 retry in 5 s"):
        open_and_close(server.url)


def test_a_session_that_breaks_at_once_is_refused() -> None:
    with FakeRealtime([Abort()]) as server, pytest.raises(SetupError, match="1006"):
        open_and_close(server.url)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (HTTPStatus.UNAUTHORIZED, SetupError),
        (HTTPStatus.NOT_FOUND, SetupError),
        (HTTPStatus.SERVICE_UNAVAILABLE, CapacityError),
    ],
)
def test_an_http_answer_is_shown(status: HTTPStatus, kind: type[Exception]) -> None:
    with (
        FakeRealtime(refuse=status) as server,
        pytest.raises(kind, match=f"answers HTTP {status.value}"),
    ):
        open_and_close(server.url)


def test_a_server_that_speaks_another_protocol_is_refused() -> None:
    ssh = tcp_server(b"SSH-2.0-OpenSSH_9.6\r\n")
    with ssh as url, pytest.raises(SetupError, match="is no websocket server"):
        open_and_close(url)


def test_a_server_that_says_nothing_is_given_up() -> None:
    with tcp_server(None) as url, pytest.raises(SetupError, match=r"not answer within 0\.2 s"):
        open_and_close(url, timeout_s=0.2)


def test_a_server_that_opens_no_session_is_given_up() -> None:
    with FakeRealtime() as server, pytest.raises(SetupError, match=r"no session within 0\.2 s"):
        open_and_close(server.url, timeout_s=0.2)


def test_a_websocket_server_of_another_kind_is_refused() -> None:
    script = [SendText("welcome to the chat!")]
    with FakeRealtime(script) as server, pytest.raises(SetupError, match="no Realtime server"):
        open_and_close(server.url)


def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(SetupError, match=r"can't reach ws://nowhere\.invalid"):
        open_and_close("ws://nowhere.invalid:1")


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with FakeRealtime(opening()) as server:
        assert open_and_close(server.url) == "session.created"
