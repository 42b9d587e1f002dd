"""The websocket itself: the library's connection, less patient."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from websockets.asyncio.server import ServerConnection
from websockets.frames import Close, CloseCode
from websockets.protocol import State

from s2s_actors.server.answers import error_response
from s2s_actors.server.crowd import place_of

if TYPE_CHECKING:
    import asyncio

    from websockets.http11 import Response

    from s2s_actors.server.client_secrets import Lent
    from s2s_actors.server.crowd import Crowd
    from s2s_actors.server.keys import ApiKey

_LINGER_S = 1.0
"""How long who is turned away may take to ask, and to read why not."""
_LONGEST_METHOD_BYTES = 16
_NO_PONG = Close(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
"""How the library then closes; nobody here uses that text."""


class PeerConnection(ServerConnection):
    """A server connection that tells at once when its peer is gone.

    The library's own signal is the end of the TCP connection. Here :attr:`gone` is also set
    when a close frame arrives, when the peer breaks the websocket protocol and when it fails
    to answer pings: a peer that never closes TCP must not hold a unit.

    It also answers requests of other methods than GET with 405: the library drops a request
    with a body without a word. ``peers`` holds every connection from its first moment on,
    since the library's own list knows only those whose handshake is done. Who comes when there
    are too many is told so at once, and the library never hears of them.

    Attributes:
        gone: Done when the peer is.
        key: The key that it showed or was lent, None if nobody needs one.
        lent: The client secret that it showed, None without one.
    """

    def __init__(self, *args: Any, peers: set[PeerConnection], crowd: Crowd, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gone: asyncio.Future[None] = self.loop.create_future()
        self.key: ApiKey | None = None
        self.lent: Lent | None = None
        self._peers = peers
        self._crowd = crowd
        self._place = ""
        self._is_newcomer = False
        self._turned_away: Response | None = None
        self._lingers: asyncio.TimerHandle | None = None
        self._head: bytearray | None = bytearray()
        self._refused = False

    @property
    def is_handshaking(self) -> bool:
        """Whether the request has not been answered yet."""
        return self.response is None

    @property
    def missed_pong(self) -> bool:
        """Whether the library gave the peer up since it did not answer a ping."""
        return self.protocol.close_sent == _NO_PONG

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the new TCP connection, or turn it away."""
        self._place = place_of(transport.get_extra_info("peername"))
        refusal = self._crowd.enter(self._place)
        self._peers.add(self)
        if refusal is None:
            self._is_newcomer = True
            super().connection_made(transport)
        else:
            self._turn_away(cast("asyncio.Transport", transport), refusal)

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        """Answer the request; from then on this is no newcomer."""
        try:
            await super().handshake(*args, **kwargs)
        finally:
            self._settle()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the first of them say whether this is a request that is served."""
        if self._refused:
            return
        if self._turned_away is not None:
            # Not before something has come: some clients fail over an answer to what they are
            # about to ask.
            self._refused = True
            _say_last(self.transport, self._turned_away)
            return
        if self._head is not None:
            self._head += data
            if not self._method_is_known(self._head):
                return
            data, self._head = bytes(self._head), None
            if self._refuse_method(data):
                return
        super().data_received(data)

    def send_data(self) -> None:
        """Write what the protocol has to say.

        The library comes here after every frame that it has taken and every failure that it
        has noticed, so this is where a change of state shows first.
        """
        super().send_data()
        if self.protocol.state in {State.CLOSING, State.CLOSED}:
            self._leave()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the TCP connection."""
        self._peers.discard(self)
        if self._turned_away is not None:
            if self._lingers is not None:
                self._lingers.cancel()
                self._crowd.lingered()
            return
        self._settle()
        self._crowd.leave()
        super().connection_lost(exc)
        self._leave()

    def eof_received(self) -> None:
        """Take the end of what the peer sends."""
        if self._turned_away is None:
            super().eof_received()

    def _settle(self) -> None:
        if self._is_newcomer:
            self._is_newcomer = False
            self._crowd.answered(self._place)

    def _turn_away(self, transport: asyncio.Transport, refusal: Response) -> None:
        self.transport = transport
        self._turned_away = refusal
        if self._crowd.linger():
            self._lingers = self.loop.call_later(_LINGER_S, transport.abort)
        else:
            transport.abort()

    def _leave(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    @staticmethod
    def _method_is_known(head: bytearray) -> bool:
        return b" " in head or len(head) > _LONGEST_METHOD_BYTES or not head.isalpha()

    def _refuse_method(self, head: bytes) -> bool:
        """Answer a well-formed method other than GET; leave nonsense to the library."""
        method, space, _ = head.partition(b" ")
        if method == b"GET" or not (space and method.isalpha() and method.isupper()):
            return False
        self._refused = True
        response = method_not_allowed()
        if method == b"HEAD":
            response.body = b""
        _say_last(self.transport, response)
        return True


def _say_last(transport: asyncio.Transport, response: Response) -> None:
    """Answer without the library, and end our half of the connection.

    Not with ``close()``: unread bytes of the request would turn it into a reset that takes the
    answer with it. The peer closes, or a deadline does.
    """
    transport.write(response.serialize())
    if transport.can_write_eof():
        transport.write_eof()


def method_not_allowed() -> Response:
    """The answer to POST and its like."""
    response = error_response(
        HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "Only GET is served here."
    )
    response.headers["Allow"] = "GET"
    return response
