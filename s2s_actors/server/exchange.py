"""One HTTP request on a connection of its own: its head, its body if that is wanted, an answer."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

import h11
from websockets.datastructures import Headers

from s2s_actors.server.answers import error_response

if TYPE_CHECKING:
    import asyncio

    from websockets.http11 import Response

__all__ = ["Exchange", "Head", "RefusedError"]

_Event: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]

_MAX_HEAD_BYTES: Final = 16 * 1024
_PIECE_BYTES: Final = 16 * 1024


class RefusedError(Exception):
    """A request can't be taken; ``response`` says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body.

    Attributes:
        method: As it came: methods are case-sensitive.
        target: What follows it.
        headers: All of them; they may hold a key, so they are nothing for a log.
    """

    method: str
    target: str
    headers: Headers

    def __repr__(self) -> str:
        return f"Head({self.method})"


class Exchange:
    """Reads one request and writes one answer; then the connection is of no more use.

    Promises: takes no more of a head and of a body than is allowed, in however many pieces they
    come. It has no deadlines: whoever calls has.

    Args:
        reader: Where the request comes from.
        writer: Where the answer goes.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._is_head = False

    async def head(self) -> Head | None:
        """The head of the request; None from a client that left without one.

        Raises:
            RefusedError: It is no HTTP, or too long.
        """
        event = await self._next()
        if not isinstance(event, h11.Request):
            return None
        method = event.method.decode("ascii")
        self._is_head = method == "HEAD"
        headers = Headers(
            (name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers
        )
        return Head(method, event.target.decode("ascii"), headers)

    async def body(self, headers: Headers, limit_bytes: int) -> bytes:
        """The body, to its end.

        Args:
            headers: Those of the head.
            limit_bytes: How long it may be.

        Raises:
            RefusedError: It is longer, or badly framed.
            ConnectionError: The client left in the middle.
        """
        # Who tells its length need not send it in vain; the parser has checked that it is one.
        if int(headers.get("Content-Length", 0)) > limit_bytes:
            _too_long(limit_bytes)
        if self._parser.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            self._writer.write(self._parser.send(go_on))
        body = bytearray()
        while isinstance(event := await self._next(), h11.Data):
            body += event.data
            if len(body) > limit_bytes:
                _too_long(limit_bytes)
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionError
        return bytes(body)

    async def answer(self, response: Response) -> None:
        """Write the answer, and wait until the client has taken it and left.

        Closing at once would not do: unread bytes of the request would turn that into a reset
        that takes the answer with it.
        """
        if self._is_head:
            response.body = b""
        self._writer.write(response.serialize())
        await self._writer.drain()
        if self._writer.can_write_eof():
            self._writer.write_eof()
        while await self._reader.read(_PIECE_BYTES):
            pass

    async def _next(self) -> _Event:
        try:
            while (event := self._parser.next_event()) is h11.NEED_DATA:
                self._parser.receive_data(await self._reader.read(_PIECE_BYTES))
        except h11.RemoteProtocolError as error:
            # Its text quotes what was sent.
            status = HTTPStatus(error.error_status_hint)
            text = "That is no HTTP request that is taken here."
            raise RefusedError(error_response(status, "invalid_request", text)) from None
        return event


def _too_long(limit_bytes: int) -> NoReturn:
    text = f"The body may have {limit_bytes} bytes."
    raise RefusedError(error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", text))
