"""A network connection without a network: what the server takes for its socket."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from websockets.frames import Opcode

if TYPE_CHECKING:
    from tests.exploration.stepped_loop import SteppedLoop

__all__ = ["FarEnd", "Packet", "Wire"]

_HTTP: Final = b"HTTP"
_OPCODE_BITS: Final = 0x0F
_HEAD_BYTES: Final = 2
"""Of a short frame without a mask (RFC 6455, section 5.2)."""


class FarEnd(Protocol):
    """Who has the other end."""

    frozen: bool
    gone: bool

    def read(self, data: bytes) -> None:
        """Take bytes; none stand for the end."""


class Packet:
    """Bytes on their way.

    Attributes:
        what: What they say, where the bytes themselves are masked or made by chance.
        data: The bytes; none stand for the end.
    """

    __slots__ = ("data", "what")

    def __init__(self, what: str, data: bytes) -> None:
        self.what = what
        self.data = data


class Wire(asyncio.Transport):
    """The server's end of a connection, as asyncio's own transports behave.

    Promises: what the far end sends reaches the server by a callback of the loop, in order, as
    from a selector. What the server writes is read at once; but if the far end is frozen, it is
    kept, and the server is told at the first byte that it should wait.

    Attributes:
        far: Who has the other end.
        closed_with: Code of the server's close frame, as soon as it is written.
        broken: What was written behind a close frame.
        lost: Whether the server knows that the connection is gone.
    """

    def __init__(self, loop: SteppedLoop, far: FarEnd) -> None:
        super().__init__({"peername": ("192.0.2.1", 4000), "sockname": ("192.0.2.2", 80)})
        self.far = far
        self.closed_with: int | None = None
        self.broken: list[str] = []
        self.lost = False
        self._loop = loop
        self._server: asyncio.Protocol | None = None
        self._unread: deque[Packet] = deque()
        self._sent: deque[Packet] = deque()
        self._closing = self._ending = self._paused = self._eof = False

    # --- what the far end does --------------------------------------------------------------

    def connect(self, server: asyncio.Protocol) -> None:
        """Come to a server."""
        self._server = server
        server.connection_made(self)

    @property
    def is_connected(self) -> bool:
        """Whether there is a server, or was."""
        return self._server is not None

    def carry(self, packet: Packet) -> None:
        """Take something to the server."""
        self._sent.append(packet)
        self._loop.call_soon(self._arrive)

    def reset(self) -> None:
        """Lose the connection; the server learns of it by itself."""
        self._loop.call_soon(self._end, ConnectionResetError())

    def thaw(self) -> None:
        """Let the far end read what is kept."""
        self._loop.call_soon(self._drain)

    # --- what the server does ---------------------------------------------------------------

    def get_protocol(self) -> asyncio.Protocol:
        """The connection of the library."""
        assert self._server is not None
        return self._server

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send; each call has one frame."""
        if self._ending or not data:
            return
        data = bytes(data)
        self._look_at(data)
        if self.far.frozen and not self.far.gone:
            what = "accepted" if data.startswith(_HTTP) else data.hex()
            self._unread.append(Packet(what, data))
            if not self._paused:
                self._paused = True
                self.get_protocol().pause_writing()
        else:
            self.far.read(data)

    def can_write_eof(self) -> bool:
        """There is no TLS."""
        return True

    def write_eof(self) -> None:
        """Send nothing more."""
        if self._closing or self._eof:
            return
        self._eof = True
        if not self.far.frozen:
            self.far.read(b"")

    def is_closing(self) -> bool:
        """Whether it was closed, by whomever."""
        return self._closing

    def close(self) -> None:
        """Close when all that is written has been read."""
        if not self._closing:
            self._closing = True
            if not self._unread:
                self._end(None)

    def abort(self) -> None:
        """Close now."""
        self._end(None)

    def pause_reading(self) -> None:
        """Never: no client here sends so much.

        Raises:
            NotImplementedError: One does.
        """
        raise NotImplementedError

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The strictest limits hold anyway."""

    # --- in between ---------------------------------------------------------------------------

    def _arrive(self) -> None:
        if self._closing or self._ending:
            return  # nobody reads any more
        packet = self._sent.popleft()
        if packet.data:
            self.get_protocol().data_received(packet.data)
        elif not self.get_protocol().eof_received():
            self.close()

    def _end(self, error: Exception | None) -> None:
        self._unread.clear()
        if not self._ending:
            self._ending = self._closing = True
            self._loop.call_soon(self._lose, error)

    def _lose(self, error: Exception | None) -> None:
        self.lost = True
        if not self.far.frozen:
            self.far.read(b"")
        self.get_protocol().connection_lost(error)

    def _drain(self) -> None:
        while self._unread:
            self.far.read(self._unread.popleft().data)
        if self._paused and not self._ending:
            self._paused = False
            self.get_protocol().resume_writing()
        if self._closing:
            self._end(None)
        if self._eof or self.lost:
            self.far.read(b"")

    def _look_at(self, data: bytes) -> None:
        if data.startswith(_HTTP):
            return
        opcode = Opcode(data[0] & _OPCODE_BITS)
        if self.closed_with is not None:
            self.broken.append(opcode.name)
        elif opcode is Opcode.CLOSE:
            self.closed_with = int.from_bytes(data[_HEAD_BYTES : _HEAD_BYTES + 2])
