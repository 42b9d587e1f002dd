"""A whole server for tests: actors, models and a real port, in a thread or in a process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from s2s_actors.actors.board import Board
from s2s_actors.backends.base import Models
from s2s_actors.backends.mcp_http import HttpMcp
from s2s_actors.backends.scripted import (
    ScriptedLlm,
    ScriptedStt,
    ScriptedTts,
    ScriptedTurn,
    ScriptedVad,
)
from s2s_actors.blueprint import plant
from s2s_actors.runtime.clock import SystemClock
from s2s_actors.server.app import PoolWatch, Stop, serve
from s2s_actors.server.event_loop import run_loop
from s2s_actors.server.options import ServerOptions
from s2s_actors.settings import Settings
from tests.server.harness import get

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Coroutine
    from types import TracebackType
    from typing import Self

    from s2s_actors.actors.health import Health
    from s2s_actors.backends.mcp_base import McpGateway
    from s2s_actors.backends.script import Script
    from s2s_actors.runtime.outlet import Outlet

__all__ = ["PATIENCE_S", "Address", "RunningServer", "ServeCommand", "run", "scripted_models"]

T = TypeVar("T")

PATIENCE_S = 15.0
"""Longest wait for anything that should happen at once."""
_POLL_S = 0.01
_LOG_LIMIT_BYTES = 1 << 26
_TEST_LIMIT_S = 100.0


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine with a limit on its time."""

    async def limited() -> T:
        async with asyncio.timeout(_TEST_LIMIT_S):
            return await scenario

    return asyncio.run(limited())


def scripted_models(script: Script | None = None, **replaced: Any) -> Models:
    """Models without weights; ``replaced`` puts others in their places, by kind."""
    models = Models(
        ScriptedVad(script),
        ScriptedStt(script),
        ScriptedLlm(script),
        ScriptedTts(script),
        ScriptedTurn(script),
    )
    return replace(models, **replaced)


class Address:
    """Where a server listens, and what it says about itself over HTTP."""

    port: int

    async def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON body of ``GET path``."""
        status, _, body = await get(self.port, path)
        return status, body

    async def pool(self) -> dict[str, Any]:
        """``/v1/pool``."""
        _, body = await self.get("/v1/pool")
        assert isinstance(body, dict)
        return body

    async def until_pool(
        self, holds: Callable[[dict[str, Any]], bool], *, within_s: float = PATIENCE_S
    ) -> dict[str, Any]:
        """Wait until ``/v1/pool`` looks as wanted, and return it."""
        pool: dict[str, Any] = {}
        try:
            async with asyncio.timeout(within_s):
                while not holds(pool := await self.pool()):  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise AssertionError(f"the pool did not get there: {pool}") from None
        return pool

    async def until_idle(self, *, within_s: float = PATIENCE_S) -> dict[str, Any]:
        """Wait until no unit is in use, and return ``/v1/pool``."""
        return await self.until_pool(lambda pool: pool["in_use"] == 0, within_s=within_s)


class RunningServer(Address):
    """A server in a thread of this process, for the length of a ``with`` block.

    Leaving the block ends all sessions at once. What is left of actors and threads then is
    seen by the check that runs after every test.

    Args:
        models: Scripted ones if none are given; the caller closes them.
        board: Where the actors publish.
        options: Options of the listener that no setting reaches.
        mcp: The way to MCP servers; closed with the server.
        settings: Fields of :class:`Settings`.
    """

    def __init__(
        self,
        models: Models | None = None,
        *,
        board: Board | None = None,
        options: dict[str, Any] | None = None,
        mcp: McpGateway | None = None,
        **settings: Any,
    ) -> None:
        self.board = board or Board()
        self._models = models or scripted_models()
        # To the echo guard, a user who speaks in tones sounds like a voice of tones.
        tones = isinstance(self._models.tts, ScriptedTts)
        guard = {"echo_guard": "off"} if tones else {}
        # How busy the machine is that runs the tests must not decide them.
        given = {"port": 0, "units": 2, "admission": "units", **guard, **settings}
        self.settings = Settings(**given)
        self._options = options or {}
        self._clock = SystemClock()
        self._mcp = mcp or HttpMcp()
        self._listening: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, name="server")
        self._loop: asyncio.AbstractEventLoop
        self._stop: Stop
        self.health: Health

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = self._listening.result(PATIENCE_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ask_to_stop()
        self.ask_to_stop()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the server did not stop"

    def ask_to_stop(self) -> None:
        """What SIGTERM does: the first call drains, the second one is quick."""
        try:
            self._loop.call_soon_threadsafe(self._stop.ask)
        except RuntimeError:
            assert self._loop.is_closed()

    async def stopped(self) -> None:
        """Wait until the server has stopped."""
        await asyncio.wait_for(asyncio.to_thread(self._thread.join, PATIENCE_S), PATIENCE_S + 1)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        watch = PoolWatch()
        built = plant(self.settings, self._models, self.board, self._clock, self._mcp)
        self.health = built.around.health
        pool = built.start_pool(watch)
        try:
            run_loop(self._serve(pool, watch))
        except BaseException as error:
            if self._listening.done():
                raise
            self._listening.set_exception(error)
        finally:
            pool.stop()
            self._clock.close()
            self._mcp.close()

    async def _serve(self, pool: Outlet, watch: PoolWatch) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = Stop()
        options = ServerOptions(
            **{
                "port": 0,
                "close_timeout_s": 0.5,
                "max_frame_bytes": self.settings.max_frame_bytes,
                "write_timeout_s": self.settings.write_timeout_s,
                **self._options,
            }
        )
        await serve(
            options,
            pool,
            self.board,
            self._models,
            health=self.health,
            stop=self._stop,
            pool_watch=watch,
            on_listening=self._listening.set_result,
        )


class ServeCommand(Address):
    """``s2s-actors serve`` as a process, for the length of a ``with`` block.

    Args:
        flags: More of them.
        scripted: Whether the models are scripted; else they are the embedded ones.
        environ: Environment variables on top of this process's own.
    """

    def __init__(self, *flags: str, scripted: bool = True, **environ: str) -> None:
        kinds = ("vad", "stt", "llm", "tts", "turn") if scripted else ()
        self._command = [
            *(sys.executable, "-m", "s2s_actors", "serve", "--port", "0"),
            *("--admission", "units"),  # how busy this machine is must not decide a test
            *(part for kind in kinds for part in (f"--{kind}", "scripted")),
            *flags,
        ]
        self._environ = os.environ | environ
        # A pipe would fill while nobody reads it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._log = ""
        self._process: subprocess.Popen[str]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.__exit__(None, None, None)
            raise AssertionError(f"serve ended: {self.log()}")
        self.port = int(line.rsplit(":", 1)[1].split("/")[0])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self.log()
        self._errors.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def log(self) -> str:
        """What it has written to standard error so far."""
        if not self._errors.closed:
            # Where the process writes next is not moved by this.
            self._log = os.pread(self._errors.fileno(), _LOG_LIMIT_BYTES, 0).decode()
        return self._log

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def exit_code(self) -> int:
        """Wait for the end of the process."""
        await asyncio.to_thread(self._process.communicate, None, PATIENCE_S)
        assert self._process.returncode is not None
        return self._process.returncode
