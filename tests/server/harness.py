"""A listener on a real socket before a scripted pool: no actors, no threads but the test's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from typing import TYPE_CHECKING, Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect

from s2s_actors.actors.lease import Lease
from s2s_actors.actors.messages import (
    CancelClaim,
    Claim,
    ClientFrame,
    EndSession,
    ServerReady,
)
from s2s_actors.actors.ports import ClaimReply, Granted, Refused
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.event_loop import run_loop
from s2s_actors.server.listener import Listener
from s2s_actors.server.options import ServerOptions
from tests.server.boards import FixedBoard, no_load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from s2s_actors.actors.board import Board
    from s2s_actors.actors.health import Health

T = TypeVar("T")
PATIENCE_S = 10.0

CREATED = b'{"type":"session.created","event_id":"event_0","session":{"id":"sess_0"}}'
REFUSED = Refused("session_limit_reached", "Every unit is in use.", 1013, 5.0)

_HANDSHAKE = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Version: 13\r\n\r\n"
)


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine with a limit on its time."""

    async def limited() -> T:
        async with asyncio.timeout(6 * PATIENCE_S):
            return await scenario

    return run_loop(limited())


class Watched:
    """Remembers what was put into it and lets a test wait for it."""

    def __init__(self) -> None:
        self.messages: list[object] = []
        self._changed = asyncio.Event()

    def put(self, message: object) -> None:
        self.messages.append(message)
        self._changed.set()

    def of(self, kind: type[T]) -> list[T]:
        return [message for message in self.messages if isinstance(message, kind)]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until a condition holds that only new messages can make true."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def got(self, kind: type[T], count: int = 1) -> list[T]:
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)


class FakeInlet(Watched):
    """Takes frames; refuses or breaks if the test wants it to."""

    full = False
    error: Exception | None = None

    def put(self, message: object) -> None:
        if self.error is not None:
            raise self.error
        if self.full:
            raise LaneFullError
        super().put(message)

    @property
    def types(self) -> list[str]:
        return [str(f.event.__struct_config__.tag) for f in self.of(ClientFrame)]


class FakePool(Watched):
    """Answers claims as scripted; with ``answer=None`` claims wait for the test."""

    def __init__(self, answer: ClaimReply | str | None = "grant") -> None:
        super().__init__()
        self.answer = answer
        self.inlet = FakeInlet()
        self.unit = Watched()
        self.accepted: list[Lease] = []

    def put(self, message: object) -> None:
        super().put(message)
        if isinstance(message, Claim):
            if self.answer == "grant":
                self.grant(message)
            elif isinstance(self.answer, Refused):
                message.reply.send(self.answer)
        elif isinstance(message, ServerReady):
            message.reply.send(None)

    def grant(self, claim: Claim, *, greet: bool = True) -> bool:
        """Give a unit to a claim; False if nobody wants it any more."""
        lease = Lease.issue(0, claim.session_id)
        if not claim.reply.send(Granted(lease, self.inlet, self.unit)):
            return False
        self.accepted.append(lease)
        if greet:
            claim.client.send(CREATED)
        return True

    @property
    def claims(self) -> list[Claim]:
        return self.of(Claim)

    @property
    def client(self) -> Any:
        return self.claims[-1].client

    async def ended(self, count: int = 1) -> list[EndSession]:
        return await self.unit.got(EndSession, count)

    def settled(self) -> bool:
        """Whether every claim that was made has been given back or given up."""
        return len(self.unit.of(EndSession)) == len(self.accepted) and len(
            self.of(CancelClaim)
        ) == len(self.claims) - len(self.accepted)


@contextlib.asynccontextmanager
async def listening(
    pool: FakePool, *, board: Board | None = None, health: Health | None = None, **options: Any
) -> AsyncIterator[int]:
    """A listener before a pool; gives its port."""
    health = health or no_load()
    settings = ServerOptions(**{"port": 0, "close_timeout_s": 0.5, **options})
    endpoints = Endpoints(
        board or FixedBoard(),
        (),
        health=health,
        is_draining=lambda: False,
        show_session_ids=settings.session_ids_shown,
    )
    async with Listener(settings, pool, endpoints, health) as listener:
        yield listener.port


def client(port: int, path: str = "/v1/realtime?model=m", **options: Any) -> connect:
    return connect(f"ws://127.0.0.1:{port}{path}", proxy=None, **options)


async def receive(ws: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_S):
        event = json.loads(await ws.recv())
    assert isinstance(event, dict)
    return event


class RawClient:
    """A client that does with TCP what no library would."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int, *, handshake: bool = True, **options: Any) -> RawClient:
        self = cls(*await asyncio.open_connection("127.0.0.1", port, **options))
        if handshake:
            self.writer.write(_HANDSHAKE)
            head = await self.reader.readuntil(b"\r\n\r\n")
            assert b" 101 " in head
        return self

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    def send_frame(self, opcode: int, payload: bytes) -> None:
        """Send one masked frame (with a mask of zeros) of up to 125 bytes."""
        assert len(payload) < 126
        self.send(bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload)

    def reset(self) -> None:
        """Drop the connection with a TCP RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def read_to_end(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


async def http(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send a raw HTTP request and read the answer to its end."""
    raw = await RawClient.open(port, handshake=False)
    raw.send(request)
    answer = await raw.read_to_end()
    await raw.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


async def get(port: int, path: str) -> tuple[int, dict[str, str], Any]:
    status, headers, body = await http(
        port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    )
    return status, headers, json.loads(body)
