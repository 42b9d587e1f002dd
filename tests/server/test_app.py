"""The server starts, tells when it is ready, drains and stops."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

import pytest
from websockets.exceptions import ConnectionClosedError

from s2s_actors.actors.messages import Claim, ServerReady, Shutdown
from s2s_actors.server.app import PoolWatch, Stop, serve
from s2s_actors.server.options import ServerOptions
from tests.server.boards import FixedBoard, no_load
from tests.server.harness import REFUSED, FakePool, client, get, receive, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OPTIONS = ServerOptions(port=0, close_timeout_s=0.5)


class Server:
    """A running server, its port and its pool."""

    def __init__(self) -> None:
        self.pool = FakePool()
        self.stop = Stop()
        self.port = 0
        self.task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        listening = asyncio.Event()

        def remember(port: int) -> None:
            self.port = port
            listening.set()

        self.task = asyncio.create_task(
            serve(
                OPTIONS,
                self.pool,
                FixedBoard(),
                (),
                health=no_load(),
                stop=self.stop,
                on_listening=remember,
            )
        )
        await listening.wait()
        yield
        await self.task


def test_the_pool_hears_that_the_server_is_ready_once_the_port_is_open() -> None:
    async def scenario() -> None:
        server = Server()
        async with server.running():
            (ready,) = server.pool.messages
            assert isinstance(ready, ServerReady)
            assert ready.reply.future.done()
            assert (await get(server.port, "/ready"))[0] == 200
            server.stop.ask()
            (shutdown,) = await server.pool.got(Shutdown)
            shutdown.reply.send(None)

    run(scenario())


def test_while_it_drains_the_server_answers_but_is_not_ready() -> None:
    async def scenario() -> None:
        server = Server()
        async with server.running():
            async with client(server.port) as ws:
                await receive(ws)
                server.stop.ask()
                (shutdown,) = await server.pool.got(Shutdown)
                assert not shutdown.force
                assert (await get(server.port, "/ready"))[0] == 503
                assert (await get(server.port, "/health"))[0] == 200
                server.pool.client.send(b'{"type":"still here"}')
                assert await receive(ws) == {"type": "still here"}
            await server.pool.ended()
            shutdown.reply.send(None)

    run(scenario())


def test_asking_twice_forces_the_stop() -> None:
    async def scenario() -> None:
        server = Server()
        async with server.running():
            server.stop.ask()
            await server.pool.got(Shutdown)
            server.stop.ask()
            _, forced = await server.pool.got(Shutdown, 2)
            assert forced.force
            forced.reply.send(None)

    run(scenario())


def test_a_pool_that_does_not_answer_cannot_keep_a_forced_server_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("s2s_actors.server.app._FORCE_PATIENCE_S", 0.05)

    async def scenario() -> None:
        server = Server()
        async with server.running(), client(server.port) as ws:
            await receive(ws)
            server.stop.ask()
            server.stop.ask()
            await server.pool.ended()
        assert server.pool.settled()

    run(scenario())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_a_second_one_forces(number: signal.Signals) -> None:
    async def scenario() -> None:
        server = Server()
        async with server.running():
            os.kill(os.getpid(), number)
            (first,) = await server.pool.got(Shutdown)
            assert not first.force
            os.kill(os.getpid(), number)
            _, second = await server.pool.got(Shutdown, 2)
            assert second.force
            second.reply.send(None)

    run(scenario())


def test_a_server_without_a_pool_is_never_announced() -> None:
    async def scenario() -> None:
        pool, watch, announced = FakePool(), PoolWatch(), list[int]()
        watch.put("failed before the server ran")
        async with asyncio.timeout(10):
            await serve(
                OPTIONS,
                pool,
                FixedBoard(),
                (),
                health=no_load(),
                pool_watch=watch,
                on_listening=announced.append,
            )
        assert announced == []

    run(scenario())


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_refused_while_the_server_stops_is_told_why_before_it_is_closed(times: int) -> None:
    async def scenario() -> None:
        server = Server()
        server.pool.answer = None
        async with server.running(), client(server.port) as ws:
            (claim,) = await server.pool.got(Claim)
            for _ in range(times):
                server.stop.ask()
            shutdown = (await server.pool.got(Shutdown, times))[-1]
            shutdown.reply.send(None)
            claim.reply.send(REFUSED)
            assert (await receive(ws))["error"]["code"] == REFUSED.code
            with pytest.raises(ConnectionClosedError) as closed:
                await receive(ws)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == REFUSED.close_code

    run(scenario())
