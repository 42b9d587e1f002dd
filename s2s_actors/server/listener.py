"""The port: who may connect, and what becomes of them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import logging
import socket
from typing import TYPE_CHECKING, Any, Self, cast

from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_websockets
from websockets.protocol import State

from s2s_actors.errors import SetupError
from s2s_actors.server.connection import Connection
from s2s_actors.server.crowd import Crowd, CrowdLimits, place_of
from s2s_actors.server.handshake import Gate, select_subprotocol
from s2s_actors.server.limits import Limits, Visit
from s2s_actors.server.peer import PeerConnection

if TYPE_CHECKING:
    from types import TracebackType

    from websockets.asyncio.server import Server
    from websockets.http11 import Request, Response

    from s2s_actors.actors.health import Health
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.server.endpoints import Endpoints
    from s2s_actors.server.options import ServerOptions

# The library logs whole frames at DEBUG: audio, transcripts and keys. It never gets there.
_library_logger = logging.getLogger("s2s_actors.server.websockets")
_library_logger.setLevel(logging.WARNING)


def bind(host: str, port: int, flag: str = "--port") -> socket.socket:
    """Take the port without listening yet, so that a conflict shows before models are loaded.

    Args:
        host: Name or address.
        port: 0 lets the system choose.
        flag: What the operator has set it with.

    Raises:
        SetupError: The address is unknown, in use or not allowed.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, proto)
    except OSError as error:
        raise unusable(host, port, error, flag) from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise unusable(host, port, error, flag) from None
    sock.settimeout(0)
    return sock


def unusable(host: str, port: int, error: OSError, flag: str = "--port") -> SetupError:
    """What to tell the operator of a port that can't be listened on."""
    if error.errno == errno.EADDRINUSE:
        return SetupError(
            f"port {port} on {host} is in use",
            hint=f"stop the other server, or choose another port with {flag} (0: any free one)",
        )
    return SetupError(f"can't listen on {host} port {port}: {error.strerror or error}")


class Listener:
    """An open port that turns websocket clients into sessions.

    Promises: :meth:`close` ends every connection in bounded time. Use it as an asynchronous
    context manager.

    Args:
        options: Bounds and deadlines.
        pool: Takes the claims.
        endpoints: Answers everything that is not a session.
        health: Learns how late events are.
        sock: A socket from :func:`bind`; without one the listener binds for itself.
    """

    def __init__(
        self,
        options: ServerOptions,
        pool: Outlet,
        endpoints: Endpoints,
        health: Health,
        *,
        sock: socket.socket | None = None,
    ) -> None:
        self._options = options
        self._pool = pool
        self._gate = Gate(endpoints, options.door)
        self._health = health
        self._tally = tally = endpoints.tally
        self._limits = Limits(health.now_s, tally)
        self._crowd = Crowd(CrowdLimits.of(options.max_connections), health.now_s, tally)
        self._sock = sock
        self._peers: set[PeerConnection] = set()
        self._server: Server | None = None

    @property
    def port(self) -> int:
        """The port that is really listened on."""
        assert self._sock is not None
        return int(self._sock.getsockname()[1])

    async def __aenter__(self) -> Self:
        if self._sock is None:
            self._sock = bind(self._options.host, self._options.port)
        options = self._options
        try:
            # Two sockets may be bound to one port as long as neither listens.
            self._sock.listen()
        except OSError as error:
            self._sock.close()
            raise unusable(options.host, options.port, error) from None
        self._server = await serve_websockets(
            self._handle,
            sock=self._sock,
            ssl=options.tls,
            create_connection=self._connection_class(),
            process_request=self._process_request,
            process_response=self._gate.process_response,
            select_subprotocol=select_subprotocol,
            compression="deflate" if options.compression else None,
            server_header="s2s_actors",
            open_timeout=options.handshake_timeout_s,
            ping_interval=options.ping_interval_s,
            ping_timeout=options.ping_timeout_s,
            close_timeout=options.close_timeout_s,
            max_size=options.max_frame_bytes,
            logger=_library_logger,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self, *, patiently: bool = False) -> None:
        """Stop listening and end what there is.

        Sessions get a close frame; their connections have deadlines of their own.

        Args:
            patiently: Whether all sessions have been told that they are over. Then each
                connection first says goodbye by itself, with what it still has to tell its
                client, for as long as a closing handshake may take.
        """
        server = self._server
        if server is None:
            return
        # Not by the library: its close frame would overtake what waits in the outboxes.
        server.close(close_connections=False)
        await asyncio.sleep(0)  # it shuts the door in a task
        for peer in list(self._peers):
            if peer.is_handshaking:
                peer.transport.abort()
        if patiently:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._options.close_timeout_s):
                    await asyncio.gather(*(peer.wait_closed() for peer in self._open_peers))
        going_away = (peer.close(1001, "the server is going away") for peer in self._open_peers)
        await asyncio.gather(*going_away, return_exceptions=True)
        await server.wait_closed()

    @property
    def _open_peers(self) -> list[PeerConnection]:
        return [peer for peer in self._peers if peer.protocol.state is State.OPEN]

    def _connection_class(self) -> type[ServerConnection]:
        # The library only ever calls it: a factory does as well as a class.
        factory: Any = functools.partial(PeerConnection, peers=self._peers, crowd=self._crowd)
        return cast("type[ServerConnection]", factory)

    def _process_request(self, ws: ServerConnection, request: Request) -> Response | None:
        answer = self._gate.process_request(ws, request)
        if answer is not None:
            self._crowd.note(place_of(ws.remote_address), answer)
        return answer

    async def _handle(self, ws: ServerConnection) -> None:
        assert isinstance(ws, PeerConnection)
        visit = Visit(self._limits, ws.key)
        connection = Connection(
            ws, self._pool, self._options, self._health, visit, tally=self._tally
        )
        await connection.run()
