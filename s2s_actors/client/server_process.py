"""A server in a process of its own: started, waited for, stopped, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Final, NoReturn, Self

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType, TracebackType

__all__ = ["ServerProcess", "serve_command", "termination_unwinds"]

_LISTENING: Final = "listening on "
_ERROR: Final = "error: "


class ServerProcess:
    """Runs ``command`` for the length of a ``with`` block.

    Its standard error passes through to ours as it comes. Leaving the block sends SIGTERM,
    waits, then kills. It has a process group of its own, so Ctrl-C reaches it only in this
    way, after we have said goodbye.

    Args:
        command: Program and arguments; it prints ``listening on ws://...`` once it is ready.
        ready_timeout_s: Longest wait for that line.
        stop_timeout_s: Longest wait after SIGTERM.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        ready_timeout_s: float = 600.0,
        stop_timeout_s: float = 10.0,
    ) -> None:
        self._command = command
        self._ready_timeout_s = ready_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._address: SimpleQueue[str | None] = SimpleQueue()
        self._complaint = ""
        self._last_line = ""
        self._process: subprocess.Popen[str]
        self._threads: list[threading.Thread] = []

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        for target, pipe in (
            (self._read_output, self._process.stdout),
            (self._read_errors, self._process.stderr),
        ):
            thread = threading.Thread(target=target, args=(pipe,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def wait_until_ready(self) -> str:
        """Wait for the server; return its address.

        Raises:
            SetupError: It ended instead, or was not ready in time.
        """
        try:
            address = self._address.get(timeout=self._ready_timeout_s)
        except Empty as error:
            raise SetupError(
                f"the server was not ready within {self._ready_timeout_s:g} s{self._said()}"
            ) from error
        if address is None:
            code = self._process.wait()
            self._join()
            raise SetupError(f"the server ended with code {code}{self._said()}")
        return address

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(self._stop_timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also after a second Ctrl-C
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
            self._join()

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(self._stop_timeout_s)

    def _said(self) -> str:
        said = self._complaint or self._last_line
        return f": {said}" if said else ""

    def _read_output(self, pipe: IO[str]) -> None:
        # Read to the end: a server whose pipe is full would stand still.
        with pipe:
            for line in pipe:
                if line.startswith(_LISTENING):
                    self._address.put(line.removeprefix(_LISTENING).strip())
        self._address.put(None)

    def _read_errors(self, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                sys.stderr.write(line)
                sys.stderr.flush()
                self._last_line = line.strip() or self._last_line
                if line.startswith(_ERROR):  # a hint may follow it
                    self._complaint = line.removeprefix(_ERROR).strip()


def serve_command(serve_args: Sequence[str], *, units: int = 1) -> list[str]:
    """Program and arguments of our own server on a free port; ``serve_args`` come last."""
    own = ["--host", "127.0.0.1", "--port", "0", "--units", str(units), "--log-level", "warning"]
    return [sys.executable, "-m", "s2s_actors", "serve", *own, *serve_args]


@contextmanager
def termination_unwinds() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end us as an exception would, so that the server is stopped."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        del frame
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
