"""The server of a long run, as a process: ``python -m tests.soak.serving``, and who starts it.

It is :class:`RunningServer` with everything scripted, with a log on standard error, and with
keepalive pings that find out within two seconds whether a client still lives. It prints its
port, serves until its standard input ends, and then says in its exit code whether an actor or
a thread was left behind.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import pykka

from s2s_actors.backends.mcp_base import NoMcp
from s2s_actors.backends.script import Script, TtsScript
from s2s_actors.runtime.actor import join_actors
from tests.support.running_server import PATIENCE_S, Address, RunningServer, scripted_models

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = ["SoakedServer"]

logger = logging.getLogger(__name__)

_HANDSHAKE_S: Final = 0.5
_LEFT_BEHIND: Final = 3


class SoakedServer(Address):
    """The process, for the length of a ``with`` block.

    Args:
        log: Where its standard error goes.
        units: How many sessions it serves at once; as many may wait again.
        ping_s: Time between its keepalive pings, and what a client has to answer one.

    Attributes:
        log: As given.
        exit_code: How it ended; known when the block is left.
    """

    def __init__(self, log: Path, *, units: int, ping_s: float) -> None:
        self.log = log
        self.exit_code: int | None = None
        self._arguments = (str(units), str(ping_s))
        self._process: subprocess.Popen[str]

    def __enter__(self) -> Self:
        with self.log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the server did not start: {self.log.read_text()[-2000:]}"
        self.port = int(line)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._process.communicate(timeout=2 * PATIENCE_S)
        finally:
            self._process.kill()
            self.exit_code = self._process.wait()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def complaints(self) -> list[str]:
        """Lines of its log that no client may cause."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if line.startswith(("ERROR", "CRITICAL", "Traceback"))]

    def replacements(self) -> list[str]:
        """Lines of its log about units that did not drain in time."""
        return [line for line in self.log.read_text().splitlines() if "did not drain" in line]


def _serve(units: int, ping_s: float) -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    models = scripted_models(Script(tts=TtsScript(ms_per_char=20.0, chunk_delay_ms=2)))
    options = {
        "ping_interval_s": ping_s,
        "ping_timeout_s": ping_s,
        "handshake_timeout_s": _HANDSHAKE_S,
    }
    # Models fail here because clients ask them to: that is no reason to send others away.
    rules: dict[str, Any] = {
        "queue": units,
        "queue_timeout_s": PATIENCE_S,
        "failing_sessions": 0,
    }
    with RunningServer(models, options=options, mcp=NoMcp(), units=units, **rules) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        sys.stdin.read()
    busy = join_actors(PATIENCE_S)
    actors = pykka.ActorRegistry.get_all()
    threads = _left(PATIENCE_S)
    if not (busy or actors or threads):
        return 0
    logger.error("left behind: %s, %s, %s", busy, actors, threads)
    return _LEFT_BEHIND


def _left(patience_s: float) -> list[str]:
    """Names of the threads that do not end."""
    deadline_s = time.monotonic() + patience_s
    others = [each for each in threading.enumerate() if each is not threading.main_thread()]
    for each in others:
        each.join(max(0.0, deadline_s - time.monotonic()))
    return [each.name for each in others if each.is_alive()]


if __name__ == "__main__":
    sys.exit(_serve(int(sys.argv[1]), float(sys.argv[2])))
