"""The pool in the terminal: once, as JSON, and live."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

from s2s_actors.client.pool_watch import run
from tests.support.fake_realtime import FakeRealtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

UNIT: Mapping[str, object] = {"session_id": None, "restarts": 0, "epoch": 0}
POOL: Mapping[str, object] = {
    "size": 2,
    "in_use": 1,
    "counts": {"idle": 1, "active": 1},
    "queue": {"length": 3, "limit": 8},
    "units": [
        {**UNIT, "index": 0, "state": "idle", "since": 1_700_000_000.0},
        {**UNIT, "index": 1, "state": "active", "session_id": "sess_abc", "since": 1.7e9},
    ],
}


def test_once_shows_every_unit(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeRealtime(pool=POOL) as server:
        assert run(server.url) == 0
    printed = capsys.readouterr().out
    assert "1 of 2 units in use" in printed
    assert "3 waiting" in printed
    assert "sess_abc" in printed


def test_json_is_the_server_s_answer(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeRealtime(pool=POOL) as server:
        assert run(server.url, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == POOL


def test_nobody_listening_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeRealtime() as gone:
        url = gone.url
    assert run(url) == 1
    assert capsys.readouterr().err.startswith("error: nothing listens at http://127.0.0.1:")


def test_a_server_without_a_pool_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeRealtime(refuse=HTTPStatus.NOT_FOUND) as server:
        assert run(server.url) == 1
    assert "answers HTTP 404" in capsys.readouterr().err


def test_what_is_no_address_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ftp://x") == 1
    assert "is no address of a server" in capsys.readouterr().err


def watching(url: str, stdout: int, *, as_json: bool = False) -> subprocess.Popen[bytes]:
    program = f"from s2s_actors.client.pool_watch import *; import sys; sys.exit(run({url!r}"
    program += f", watch=True, as_json={as_json}))"
    return subprocess.Popen([sys.executable, "-c", program], stdout=stdout, stderr=subprocess.PIPE)


def test_watching_on_a_terminal_is_live_and_survives_the_server() -> None:
    ours, theirs = pty.openpty()
    with FakeRealtime(pool=POOL) as server:
        watch = watching(server.url, theirs)
        os.close(theirs)
        screen = b""
        while b"sess_abc" not in screen:
            screen += os.read(ours, 4096)
    while b"still trying" not in screen:
        screen += os.read(ours, 4096)
    watch.send_signal(signal.SIGINT)
    _, errors = watch.communicate(timeout=30)
    assert errors == b""
    assert watch.returncode == 130
    os.close(ours)


def test_watching_into_a_pipe_prints_every_change_once() -> None:
    with FakeRealtime(pool=POOL) as server:
        watch = watching(server.url, subprocess.PIPE, as_json=True)
        assert watch.stdout is not None
        assert watch.stderr is not None
        assert json.loads(watch.stdout.readline()) == POOL
        server.pool = {**POOL, "in_use": 2}
        assert json.loads(watch.stdout.readline())["in_use"] == 2
    assert watch.stderr.readline().startswith(b"error: nothing listens")
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=30)
    assert watch.returncode == 130
