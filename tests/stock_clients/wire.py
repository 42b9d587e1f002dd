"""What stock clients and the server really say to each other, checked by the shared checker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from s2s_actors.server.peer import PeerConnection
from tests.support.stream_checker import StreamChecker
from tests.support.strict_events import validate

if TYPE_CHECKING:
    import pytest

Event = dict[str, Any]


class Wire:
    """Every event of one session, in the order in which the server took and sent them."""

    def __init__(self) -> None:
        self.checker = StreamChecker("stock")
        self.sent: list[Event] = []
        self.received: list[Event] = []
        self.violations: list[str] = []

    def takes(self, frame: str | bytes) -> None:
        """Note what the client sent."""
        event = json.loads(frame)
        self.sent.append(event)
        self._check(lambda: self.checker.client(event))

    def gives(self, frame: str | bytes) -> None:
        """Note what the server sends."""
        event = json.loads(frame)
        self.received.append(event)
        self._check(lambda: validate(event))
        self._check(lambda: self.checker.server(event))

    def of(self, kind: str) -> list[Event]:
        """What the server sent of this type."""
        return [event for event in self.received if event["type"] == kind]

    def sent_of(self, kind: str) -> list[Event]:
        """What the client sent of this type."""
        return [event for event in self.sent if event["type"] == kind]

    def responses(self) -> list[Event]:
        """The responses that have ended."""
        return [event["response"] for event in self.of("response.done")]

    def _check(self, step: Any) -> None:
        # The server's own connection runs this, and must not end by it.
        try:
            step()
        except AssertionError as violation:
            self.violations.append(str(violation))


def tap(monkeypatch: pytest.MonkeyPatch) -> list[Wire]:
    """Follow every session of the servers of this process from here on."""
    wires: list[Wire] = []
    by_connection: dict[PeerConnection, Wire] = {}
    send, recv = PeerConnection.send, PeerConnection.recv

    def wire_of(connection: PeerConnection) -> Wire:
        if connection not in by_connection:
            by_connection[connection] = Wire()
            wires.append(by_connection[connection])
        return by_connection[connection]

    async def tapped_send(connection: PeerConnection, message: Any, **options: Any) -> None:
        wire_of(connection).gives(message)
        await send(connection, message, **options)

    async def tapped_recv(connection: PeerConnection, **options: Any) -> Any:
        message = await recv(connection, **options)
        wire_of(connection).takes(message)
        return message

    monkeypatch.setattr(PeerConnection, "send", tapped_send)
    monkeypatch.setattr(PeerConnection, "recv", tapped_recv)
    return wires
