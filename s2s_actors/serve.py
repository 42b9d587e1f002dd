"""Puts a server process together: models, actors, port."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Literal, NoReturn

from s2s_actors.access import Access
from s2s_actors.actors.board import Board
from s2s_actors.actors.ports import SessionWish
from s2s_actors.backends.loading import load_models
from s2s_actors.blueprint import mcp_gateway, model_selection, plant, server_options
from s2s_actors.errors import SetupError
from s2s_actors.logs import set_up_logs
from s2s_actors.runtime.actor import join_actors
from s2s_actors.runtime.clock import SystemClock
from s2s_actors.server.app import PoolWatch, serve
from s2s_actors.server.companion import CompanionPlan
from s2s_actors.server.event_loop import run_loop
from s2s_actors.server.listener import bind
from s2s_actors.server.signals import Terminated, termination_interrupts
from s2s_actors.streams import finish_streams, give_up

if TYPE_CHECKING:
    import socket

    from s2s_actors.actors.wiring import Plant
    from s2s_actors.backends.base import Models
    from s2s_actors.settings import Settings

logger = logging.getLogger(__name__)

_STOP_PATIENCE_S = 3.0
"""How long models may take over their current step when everything has been cancelled."""
_INTERRUPTED = 130


def run(settings: Settings) -> int:
    """Load the models, serve until asked to stop, and return the exit code.

    Progress goes to stderr; when clients can come, one line on stdout says where to. A signal
    that comes before there is a server, or when there is none any more, ends the process at once.

    Raises:
        SetupError: A model is missing or the port can't be used.
    """
    set_up_logs(settings.log_level, with_content=settings.log_content == "on")
    with termination_interrupts():
        try:
            return _run(settings)
        except Terminated:
            _leave_at_once([], 0)
        except KeyboardInterrupt:
            _leave_at_once([], _INTERRUPTED)


def _run(settings: Settings) -> int:
    # All that the process did so far was to import, on one thread.
    began_s = time.perf_counter() - time.process_time()
    # Before the models are loaded: a key that is missing or a port in use should not cost a minute.
    access, mcp = Access(settings), mcp_gateway(settings)
    sock = bind(settings.host, settings.port)
    http_sock = _bind_http(settings, sock)
    models = _loaded(settings, sock)
    board, clock, pool_watch = Board(), SystemClock(), PoolWatch()
    built = plant(settings, models, board, clock, mcp)
    pool = built.start_pool(pool_watch)
    try:
        run_loop(
            serve(
                server_options(settings, access),
                pool,
                board,
                models,
                health=built.around.health,
                sock=sock,
                on_hangup=access.reload,
                pool_watch=pool_watch,
                companion=_companion(settings, built, http_sock),
                on_listening=lambda port: _announce(_address(settings, port, "ws"), began_s),
            )
        )
    finally:
        pool.stop()
        busy = join_actors(_STOP_PATIENCE_S)
        clock.close()
        mcp.close()
        if not busy:
            for backend in models:
                backend.close()
    code = 1 if pool_watch.failed else 0
    if busy:
        _leave_at_once(busy, code)
    return code


def _bind_http(settings: Settings, sock: socket.socket) -> socket.socket | None:
    """Take the second port; the first one is given back if that fails."""
    if settings.http_port is None:
        return None
    try:
        return bind(settings.host, settings.http_port, "--http-port")
    except SetupError:
        sock.close()
        raise


def _companion(
    settings: Settings, built: Plant, sock: socket.socket | None
) -> CompanionPlan | None:
    if sock is None:
        return None
    start = built.conversation.start(SessionWish(), session_id="", now_s=0)

    def announce(port: int) -> None:
        _progress(f"plain HTTP on {_address(settings, port, 'http')}")

    return CompanionPlan(sock, start, announce)


def _loaded(settings: Settings, sock: socket.socket) -> Models:
    try:
        models = load_models(model_selection(settings), _progress)
    except BaseException:
        sock.close()
        raise
    # They stay as long as the process. To look through them for garbage, as Python does now and
    # then, would hold up every session for a fifth of a second.
    gc.freeze()
    return models


def _leave_at_once(busy: list[str], code: int) -> NoReturn:
    """End the process without the interpreter's own teardown.

    A thread that is still inside a model's native code when the interpreter goes down
    aborts the process ("terminate called without an active exception").
    """
    if busy:
        logger.warning("leaving behind what does not stop: %s", ", ".join(busy))
    logging.shutdown()
    os._exit(finish_streams(code))


def _progress(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody to tell is no reason not to serve
        # In one piece: the log is written beside it, by another thread.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _address(settings: Settings, port: int, scheme: Literal["ws", "http"]) -> str:
    secure = "" if settings.tls_cert is None else "s"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}{secure}://{host}:{port}/v1"


def _announce(address: str, began_s: float) -> None:
    _progress(f"ready after {time.perf_counter() - began_s:.1f} s")
    try:
        print(f"listening on {address}/realtime", flush=True)  # noqa: T201
    except OSError as error:
        give_up(sys.stdout)
        logger.warning("standard output can't be told where to find us: %s", error.strerror)
