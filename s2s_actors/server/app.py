"""The server from the first claim to the last: readiness, signals, drain."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from s2s_actors.actors.messages import ServerReady, Shutdown
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.listener import Listener
from s2s_actors.server.signals import handling_signals

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable
    from contextlib import AbstractAsyncContextManager

    from s2s_actors.actors.board import Board
    from s2s_actors.actors.health import Health
    from s2s_actors.backends.base import Backend
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.server.companion import CompanionPlan
    from s2s_actors.server.options import ServerOptions

logger = logging.getLogger(__name__)

_FORCE_PATIENCE_S = 2.0
"""How long a forced stop waits for the pool's word: longer than any healthy pool needs."""


class Stop:
    """How the server is asked to stop: once to finish what runs, twice to be quick.

    Belongs to the event loop that serves.
    """

    def __init__(self) -> None:
        self.drain = asyncio.Event()
        self.force = asyncio.Event()

    def ask(self) -> None:
        """Ask once more."""
        if self.drain.is_set():
            self.force.set()
        self.drain.set()


class PoolWatch:
    """Supervisor of the pool: without one there is nothing left to serve with.

    Promises: a pool that failed ends the server, also when it failed before the server ran.
    """

    def __init__(self) -> None:
        self.failed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Stop | None = None

    def put(self, message: object) -> None:
        """Take the pool's report; comes from the pool's thread."""
        logger.critical("the pool failed; the server stops: %s", message)
        self.failed = True
        if self._loop is not None:
            # The loop may be closed already: then the server is stopping anyway.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end)

    def watch_for(self, stop: Stop) -> None:
        """Stop this server, which runs on the current loop."""
        self._stop, self._loop = stop, asyncio.get_running_loop()
        if self.failed:
            self._end()

    def _end(self) -> None:
        assert self._stop is not None
        self._stop.drain.set()
        self._stop.force.set()


async def serve(  # noqa: PLR0913 - where the process is put together
    options: ServerOptions,
    pool: Outlet,
    board: Board,
    models: Iterable[Backend],
    *,
    health: Health,
    sock: socket.socket | None = None,
    stop: Stop | None = None,
    pool_watch: PoolWatch | None = None,
    companion: CompanionPlan | None = None,
    on_listening: Callable[[int], None] | None = None,
    on_hangup: Callable[[], None] | None = None,
) -> None:
    """Serve until someone asks to stop, drain, and return.

    SIGTERM and SIGINT ask to stop, if this is the main thread. The models are loaded already;
    the pool learns here that it may grant claims.

    Args:
        options: The listener's options.
        pool: Takes the claims.
        board: What the actors publish.
        models: For ``/v1/models``.
        health: How far the process is behind; learns here how late events are.
        sock: A socket from :func:`~s2s_actors.server.listener.bind`.
        stop: For who embeds the server and has no signals.
        pool_watch: The pool's supervisor.
        companion: A second port, for plain HTTP.
        on_listening: Called once with the real port.
        on_hangup: Called at SIGHUP, if this is the main thread.

    Raises:
        SetupError: The port can't be used.
    """
    stop = stop or Stop()
    if pool_watch is not None:
        pool_watch.watch_for(stop)
    endpoints = Endpoints(
        board,
        models,
        health=health,
        is_draining=stop.drain.is_set,
        show_session_ids=options.session_ids_shown,
    )
    with handling_signals(stop.ask, on_hangup):
        async with (
            Listener(options, pool, endpoints, health, sock=sock) as listener,
            _beside(companion, options, endpoints, health),
        ):
            await _open_doors(pool, stop)
            if not stop.force.is_set():
                logger.info("listening on %s port %d", options.host, listener.port)
                if on_listening is not None:
                    on_listening(listener.port)
            await stop.drain.wait()
            logger.info("draining: no new sessions; ask again to end the running ones")
            # Still listening: /ready says 503, /v1/pool shows the drain, and who connects
            # now is told why there is no session.
            if await _drain(pool, stop):
                await listener.close(patiently=True)
    logger.info("stopped")


def _beside(
    companion: CompanionPlan | None, options: ServerOptions, endpoints: Endpoints, health: Health
) -> AbstractAsyncContextManager[None]:
    if companion is None:
        return contextlib.nullcontext()
    return companion.listening(options, endpoints, health.now_s)


async def _open_doors(pool: Outlet, stop: Stop) -> None:
    """Let the pool grant claims, and wait until it does: what is announced must be true."""
    reply: ReplyPort[None] = ReplyPort()
    pool.put(ServerReady(reply))
    opened: asyncio.Future[Any] = asyncio.wrap_future(reply.future)
    stopped: asyncio.Future[Any] = asyncio.create_task(stop.drain.wait())
    await asyncio.wait({opened, stopped}, return_when=asyncio.FIRST_COMPLETED)
    opened.cancel()
    stopped.cancel()


async def _drain(pool: Outlet, stop: Stop) -> bool:
    """Wait for the pool to be empty; it keeps the deadline of the drain itself.

    Returns:
        Whether the pool has said so.
    """
    drained: asyncio.Future[Any] = _ask_to_shut_down(pool, force=False)
    forced: asyncio.Future[Any] = asyncio.create_task(stop.force.wait())
    await asyncio.wait({drained, forced}, return_when=asyncio.FIRST_COMPLETED)
    is_empty = drained.done()
    if not is_empty:
        logger.warning("ending all sessions now")
        ended = _ask_to_shut_down(pool, force=True)
        await asyncio.wait(
            {drained, ended}, timeout=_FORCE_PATIENCE_S, return_when=asyncio.FIRST_COMPLETED
        )
        is_empty = drained.done() or ended.done()
        ended.cancel()
    drained.cancel()
    forced.cancel()
    return is_empty


def _ask_to_shut_down(pool: Outlet, *, force: bool) -> asyncio.Future[None]:
    reply: ReplyPort[None] = ReplyPort()
    pool.put(Shutdown(reply, force))
    return asyncio.wrap_future(reply.future)
