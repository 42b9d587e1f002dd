"""The client at the far end of a wire: speaks the websocket protocol, and does what it is told."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from tests.exploration.wire import Packet, Wire

if TYPE_CHECKING:
    import asyncio

    from tests.exploration.stepped_loop import SteppedLoop

__all__ = ["Peer"]


class Peer:
    """A websocket client, without I/O.

    Promises: answers a close frame with its own at once, and closes TCP when the server has;
    says nothing before the server has accepted it, and nothing after its close frame.

    Attributes:
        wire: Leads to the server.
        frames: Events that it has read.
        upgraded: Whether the server has accepted it.
        frozen: Whether it has stopped reading and sending.
        gone: Whether it has closed its end, or lost it.
    """

    def __init__(self, loop: SteppedLoop, secret: str) -> None:
        self.wire = Wire(loop, self)
        self.frames: list[bytes] = []
        self.upgraded = self.frozen = self.gone = False
        self._secret = secret
        self._client = ClientProtocol(parse_uri("ws://server/v1/realtime?model=m"))
        self._held: list[bytes] = []

    @property
    def is_parting(self) -> bool:
        """Whether it has sent a close frame, or is gone."""
        return self.gone or self._client.close_sent is not None

    def connect(self, server: asyncio.Protocol) -> None:
        """Come to a server, and ask for a session."""
        self.wire.connect(server)
        request = self._client.connect()
        request.headers["Authorization"] = f"Bearer {self._secret}"
        self._client.send_request(request)
        self._flush("request")

    def say(self, text: bytes) -> None:
        """Send an event, or something that is none; waits for the server's acceptance."""
        if self.is_parting or self.frozen:
            return
        if not self.upgraded:
            self._held.append(text)
            return
        self._client.send_text(text)
        self._flush(text.decode())

    def say_goodbye(self) -> None:
        """Send a close frame; who has not been accepted ends TCP instead."""
        if not self.upgraded:
            self.cut()
        elif not self.is_parting:
            self._client.send_close(1000, "")
            self._flush("close")

    def reset(self) -> None:
        """Lose the connection, as with a TCP RST."""
        if not self.gone:
            self.gone = True
            self.wire.reset()

    def cut(self) -> None:
        """End TCP without a close frame, as a process does that is killed."""
        if not self.gone:
            self.gone = True
            self.wire.carry(Packet("end", b""))

    def freeze(self) -> None:
        """Neither read nor send, as a process does that is stopped."""
        self.frozen = True

    def thaw(self) -> None:
        """Go on reading."""
        self.frozen = False
        self.wire.thaw()

    def read(self, data: bytes) -> None:
        """Take what the server has written; none stand for the end."""
        if self.gone:
            return
        if not data:
            self.cut()
            return
        self._client.receive_data(data)
        for event in self._client.events_received():
            if isinstance(event, Response) and event.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
                self._enter()
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self.frames.append(bytes(event.data))
        self._flush("answer")

    def _enter(self) -> None:
        self.upgraded = True
        held, self._held = self._held, []
        for text in held:
            self.say(text)

    def _flush(self, what: str) -> None:
        for data in self._client.data_to_send():
            if data:
                self.wire.carry(Packet(what, data))
