"""How the process ends, and what it outlives: signals, streams that are closed or full, a kill."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 30
SCRIPTED = [
    word for kind in ("vad", "stt", "llm", "tts", "turn") for word in (f"--{kind}", "scripted")
]
SERVE = [sys.executable, "-m", "s2s_actors", "serve", "--port", "0", "--admission", "units"]
HANDSHAKE = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Version: 13\r\n\r\n"
)
TELLING = """
import os, sys, s2s_actors.serve as serving
from s2s_actors.__main__ import main
tell, announce = int(sys.argv.pop(1)), serving._announce
def announced(address, began_s):
    announce(address, began_s)
    os.write(tell, f"{address}\\n".encode())
    os.close(tell)
serving._announce = announced
main()
"""
"""Tells by a pipe of its own where it listens, when it has tried to by its streams."""
SLOW_START = """
import sys, threading, s2s_actors.serve as serving
from s2s_actors.__main__ import main
def load(*_):
    threading.Thread(target=threading.Event().wait).start()  # a model that goes on loading
    print("loading", flush=True)
    threading.Event().wait()
serving.load_models = load
sys.argv[1:] = ["serve", "--port", "0"]
main()
"""


@contextlib.contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            running.kill()


def port_of(line: bytes) -> int:
    return int(line.rsplit(b":", 1)[1].split(b"/")[0])


def answers_again(port: int) -> bool:
    """Whether it does before the patience is at its end; nothing tells when it has room."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        with contextlib.suppress(ConnectionError):
            if health(port) == b"HTTP/1.1 200 OK":
                return True
    return False


def health(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as peer:
        peer.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return peer.recv(65536).split(b"\r\n")[0]


def end(running: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Ask it to stop; its exit code and the rest of standard error."""
    running.terminate()
    errors = running.communicate(timeout=PATIENCE_S)[1]
    return running.returncode, errors or b""


@contextlib.contextmanager
def with_streams(redirections: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server with its streams as a shell redirects them, and its port; ``9`` is a dead pipe."""
    news, tell = os.pipe()
    dead_read, dead = os.pipe()
    os.close(dead_read)
    words = ["serve", "--port", "0", "--admission", "units", *SCRIPTED]
    script = ("bash", "-c", f'exec "$@" 9>&{dead} {redirections} 9>&-', "bash")
    try:
        running = subprocess.Popen(
            [*script, sys.executable, "-c", TELLING, str(tell), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(tell, dead),
        )
    finally:
        os.close(tell)
        os.close(dead)
    with running, open(news, "rb") as told:  # noqa: PTH123 - it is a number
        try:
            yield running, port_of(told.readline())
        finally:
            running.kill()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_while_models_load_ends_the_process_at_once(
    number: signal.Signals, code: int
) -> None:
    with process(sys.executable, "-c", SLOW_START) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"loading\n"
        running.send_signal(number)
        _, errors = running.communicate(timeout=PATIENCE_S)
        assert (running.returncode, errors) == (code, b"")


def test_clients_that_do_not_read_do_not_hold_up_the_end() -> None:
    with process(*SERVE, *SCRIPTED, "--shutdown-timeout", "0.2") as running:
        assert running.stdout is not None
        port = port_of(running.stdout.readline())
        with contextlib.ExitStack() as stack:
            for request in (HANDSHAKE, HANDSHAKE[:30], b""):
                peer = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                peer.sendall(request)
                if request == HANDSHAKE:
                    assert peer.recv(12) == b"HTTP/1.1 101"
            assert end(running)[0] == 0


def test_a_killed_server_leaves_its_port_to_the_next_one() -> None:
    with process(*SERVE, *SCRIPTED) as first:
        assert first.stdout is not None
        port = port_of(first.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as peer:
            peer.sendall(HANDSHAKE)
            assert peer.recv(12) == b"HTTP/1.1 101"
            first.kill()
            first.wait(PATIENCE_S)
            with process(*SERVE, *SCRIPTED, "--port", str(port)) as second:
                assert second.stdout is not None
                assert port_of(second.stdout.readline()) == port
                assert health(port) == b"HTTP/1.1 200 OK"
                assert end(second)[0] == 0


def test_a_port_in_use_is_one_line_and_a_hint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*SERVE, *SCRIPTED, "--port", str(port)],
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error == b"error: port %d on 127.0.0.1 is in use" % port
    assert hint.startswith(b"hint: ")


@pytest.mark.parametrize(
    "redirections",
    [
        *("2>&-", ">&-", ">&- 2>&- <&-"),
        *("2>&9", ">&9", ">&9 2>&9"),
        *("2>/dev/full", ">/dev/full", ">/dev/full 2>/dev/full"),
    ],
)
def test_a_server_with_streams_that_lead_nowhere_serves_and_ends_in_order(
    redirections: str,
) -> None:
    with with_streams(redirections) as (running, port):
        assert health(port) == b"HTTP/1.1 200 OK"
        running.terminate()
        output, errors = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0
    assert b"Traceback" not in errors
    # What belongs to one stream never gets into the other one.
    assert output.splitlines() in ([], [b"listening on ws://127.0.0.1:%d/v1/realtime" % port])


def test_no_connection_takes_the_place_of_a_closed_stream() -> None:
    with with_streams(">&- 2>&- <&-") as (running, port):
        assert health(port) == b"HTTP/1.1 200 OK"
        for number in range(3):
            assert os.readlink(f"/proc/{running.pid}/fd/{number}") == os.devnull  # noqa: PTH115


def test_results_that_do_not_fit_on_the_disk_are_one_line_and_a_failure() -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "s2s_actors", "serve", "--print-config"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"error: No space left on device\n"


def test_more_connections_than_files_are_survived_without_a_flood_in_the_log() -> None:
    few = ("bash", "-c", 'ulimit -n 64; exec "$@"', "bash")
    with process(*few, *SERVE, *SCRIPTED, "--units", "1") as running:
        assert running.stdout is not None
        port = port_of(running.stdout.readline())
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert answers_again(port)
        code, errors = end(running)
    assert code == 0
    assert len(errors.splitlines()) < 40


def test_too_little_memory_is_one_line_and_a_hint() -> None:
    script = (
        "import sys, s2s_actors.serve as serving\n"
        "def load(*_): raise MemoryError\n"
        "serving.load_models = load\n"
        "from s2s_actors.cli import run\n"
        "sys.exit(run(['serve', '--port', '0']))"
    )
    with process(sys.executable, "-c", script) as running:
        errors = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == 1
    assert errors.startswith(b"error: there is not enough memory\nhint: ")
    assert len(errors.splitlines()) == 2
