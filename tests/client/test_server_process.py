"""A child process is waited for, and never left behind."""

from __future__ import annotations

import sys
from typing import Final

import psutil
import pytest

from s2s_actors.client.server_process import ServerProcess
from s2s_actors.errors import SetupError

READY: Final = "print('listening on ws://127.0.0.1:9/v1/realtime', flush=True)\n"
WAIT: Final = "import threading; threading.Event().wait()\n"
STUBBORN: Final = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_the_address_is_the_one_that_the_server_prints() -> None:
    with ServerProcess(python("print('hello')\n" + READY + WAIT)) as server:
        assert server.wait_until_ready() == "ws://127.0.0.1:9/v1/realtime"


def test_what_the_server_says_while_it_loads_passes_through(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = "import sys; print('loading stt ...', file=sys.stderr)\n" + READY + WAIT
    with ServerProcess(python(program)) as server:
        server.wait_until_ready()
    assert "loading stt ...\n" in capsys.readouterr().err


def test_the_server_ends_with_the_block() -> None:
    with ServerProcess(python(READY + WAIT)) as server:
        server.wait_until_ready()
    assert not psutil.pid_exists(server.pid)


def test_the_server_ends_when_the_block_fails() -> None:
    server = ServerProcess(python(READY + WAIT))
    with pytest.raises(RuntimeError, match="oops"), server:
        raise RuntimeError("oops")
    assert not psutil.pid_exists(server.pid)


def test_a_server_that_ignores_sigterm_is_killed() -> None:
    command = python(STUBBORN + READY + WAIT)
    with ServerProcess(command, stop_timeout_s=0.2) as server:
        server.wait_until_ready()
    assert not psutil.pid_exists(server.pid)


@pytest.mark.parametrize(
    "said", ["error: no model at /x", "error: no model at /x\nhint: make models", "no model at /x"]
)
def test_a_server_that_ends_before_it_is_ready_says_why(said: str) -> None:
    program = f"import sys; print({said!r}, file=sys.stderr); sys.exit(2)"
    why = r"ended with code 2: no model at /x$"
    with ServerProcess(python(program)) as server, pytest.raises(SetupError, match=why):
        server.wait_until_ready()


def test_a_server_that_is_never_ready_is_given_up() -> None:
    server = ServerProcess(python(WAIT), ready_timeout_s=0.2)
    with server, pytest.raises(SetupError, match=r"was not ready within 0\.2 s"):
        server.wait_until_ready()
    assert not psutil.pid_exists(server.pid)


def test_a_talkative_server_is_never_blocked_by_a_full_pipe() -> None:
    noise = "import sys\nfor _ in range(9000): print('x' * 99); print('y' * 99, file=sys.stderr)\n"
    with ServerProcess(python(READY + noise + "print('done')")) as server:
        server.wait_until_ready()
        assert psutil.Process(server.pid).wait(timeout=60) == 0
