"""The port for plain HTTP: what the websocket port tells, and requests with a body."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from s2s_actors.server.answers import error_response
from s2s_actors.server.crowd import Crowd, CrowdLimits, place_of
from s2s_actors.server.exchange import Exchange, RefusedError
from s2s_actors.server.insight import insight_of
from s2s_actors.server.listener import unusable
from s2s_actors.server.minting import MAX_BODY_BYTES, Minting

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable
    from types import TracebackType

    from websockets.http11 import Response

    from s2s_actors.protocol.session_start import SessionStart
    from s2s_actors.server.endpoints import Endpoints
    from s2s_actors.server.exchange import Head
    from s2s_actors.server.options import ServerOptions

__all__ = ["SECRETS_PATH", "Companion", "CompanionPlan"]

logger = logging.getLogger(__name__)

SECRETS_PATH: Final = "/v1/realtime/client_secrets"
_CROWD: Final = CrowdLimits(connections=128, newcomers=32)
"""Requests are short: these are many."""


@dataclass(frozen=True, slots=True)
class CompanionPlan:
    """A companion that is to be, for as long as the server listens.

    Attributes:
        sock: A bound socket.
        start: How sessions begin that bring no settings.
        on_listening: Called once with the real port.
    """

    sock: socket.socket
    start: SessionStart
    on_listening: Callable[[int], None]

    @asynccontextmanager
    async def listening(
        self, options: ServerOptions, endpoints: Endpoints, now_s: Callable[[], float]
    ) -> AsyncIterator[None]:
        """Listen while this context lasts.

        Args:
            options: Those of the server; its door has to lend.
            endpoints: Answers what needs no body.
            now_s: The process's monotonic clock.
        """
        assert options.door.secrets is not None
        minting = Minting(options.door, options.door.secrets, self.start, endpoints.tally)
        async with Companion(options, endpoints, minting, self.sock, now_s) as companion:
            logger.info("plain HTTP on port %d", companion.port)
            self.on_listening(companion.port)
            yield


class Companion:
    """A second port, on the event loop of the first one, with the same certificate.

    It takes one request a connection: who asks once a quarter of a minute saves nothing by
    keeping one open.

    Promises: a request is answered or cut off within its deadline, however slowly it comes;
    a body is read only from who may send one; :meth:`close` waits for nobody.

    Args:
        options: Certificate, deadlines and keys of the server.
        endpoints: Answers what needs no body.
        minting: Makes client secrets.
        sock: A bound socket.
        now_s: The process's monotonic clock.
    """

    def __init__(
        self,
        options: ServerOptions,
        endpoints: Endpoints,
        minting: Minting,
        sock: socket.socket,
        now_s: Callable[[], float],
    ) -> None:
        self._options = options
        self._endpoints = endpoints
        self._minting = minting
        self._sock = sock
        self._crowd = Crowd(_CROWD, now_s, endpoints.tally)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._sock.getsockname()[1])

    async def __aenter__(self) -> Self:
        options = self._options
        tls = options.tls
        try:
            # Two sockets may be bound to one port as long as neither listens.
            self._sock.listen()
        except OSError as error:
            port = self.port
            self._sock.close()
            raise unusable(options.host, port, error, "--http-port") from None
        self._server = await asyncio.start_server(
            self._serve,
            sock=self._sock,
            ssl=tls,
            ssl_handshake_timeout=options.handshake_timeout_s if tls else None,
            ssl_shutdown_timeout=options.close_timeout_s if tls else None,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop listening, and cut off who still asks."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        address = writer.get_extra_info("peername")
        place = place_of(address)
        refusal = self._crowd.enter(place)
        try:
            # Of a connection that breaks, or is cut off here, nobody wants to hear more.
            with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
                await self._exchange(Exchange(reader, writer), refusal, address)
        finally:
            if refusal is None:
                self._crowd.answered(place)
                self._crowd.leave()
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchange(
        self, exchange: Exchange, refusal: Response | None, address: object
    ) -> None:
        answer = refusal or await self._answer(exchange, is_local=_is_local(address))
        if answer is not None:
            self._crowd.note(place_of(address), answer)
            async with asyncio.timeout(self._options.write_timeout_s):
                await exchange.answer(answer)

    async def _answer(self, exchange: Exchange, *, is_local: bool) -> Response | None:
        """The answer to a request; None to a client that sent none."""
        try:
            async with asyncio.timeout(self._options.handshake_timeout_s):
                return await self._take(exchange, is_local=is_local)
        except RefusedError as refused:
            return refused.response
        except TimeoutError:
            return error_response(
                HTTPStatus.REQUEST_TIMEOUT, "request_timeout", "The request came too slowly."
            )
        except ConnectionError:
            return None
        except Exception:
            logger.exception("a request failed")
            return error_response(
                HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", "The server failed."
            )

    async def _take(self, exchange: Exchange, *, is_local: bool) -> Response | None:
        head = await exchange.head()
        if head is None:
            return None
        answer = self._answer_head(head, is_local=is_local)
        if answer is not None:
            return answer
        body = await exchange.body(head.headers, MAX_BODY_BYTES)
        return self._minting.answer(head.headers, body)

    def _answer_head(self, head: Head, *, is_local: bool) -> Response | None:
        """The answer, None if that depends on the body."""
        try:
            path = urlsplit(head.target).path
        except ValueError:
            return error_response(HTTPStatus.BAD_REQUEST, "invalid_url", "The URL is malformed.")
        if path == SECRETS_PATH:
            if head.method != "POST":
                return _not_allowed("POST")
            return self._minting.refuse(head.headers, is_local=is_local)
        if path not in self._endpoints.paths:
            return self._endpoints.not_found(path, [*self._endpoints.paths, SECRETS_PATH])
        if head.method not in {"GET", "HEAD"}:
            return _not_allowed("GET, HEAD")
        door = self._options.door
        return self._endpoints.answer(path, lambda: insight_of(door, head.headers))


def _not_allowed(methods: str) -> Response:
    response = error_response(
        HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", f"Allowed here: {methods}."
    )
    response.headers["Allow"] = methods
    return response


def _is_local(address: object) -> bool:
    """Whether a connection comes from this machine."""
    try:
        host = ipaddress.ip_address(address[0]) if isinstance(address, tuple) else None
    except ValueError:
        return False
    if isinstance(host, ipaddress.IPv6Address) and host.ipv4_mapped is not None:
        host = host.ipv4_mapped
    return host is not None and host.is_loopback
