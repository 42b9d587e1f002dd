"""Life cycle of one client's connection."""

from __future__ import annotations

from dataclasses import dataclass

from statemachine import State

from statecharts.base import Effect, StrictChart


@dataclass(frozen=True, slots=True)
class SendRefusal(Effect):
    """Tell the client why it gets no session, then close."""


@dataclass(frozen=True, slots=True)
class EndSession(Effect):
    """Give the lease back: the unit has to drain."""


@dataclass(frozen=True, slots=True)
class SendClose(Effect):
    """Send a close frame and wait a bounded time for the client's."""


@dataclass(frozen=True, slots=True)
class AbortTransport(Effect):
    """Drop the TCP connection: the peer does not read, so nothing gentler works."""


class ConnectionChart(StrictChart):
    """Claiming a unit, connected, closing, closed.

    Promises: a lease that was granted is given back exactly once, however the connection
    ends, and it is given back before anything waits for the peer.

    {statechart:rst}
    """

    claiming = State("claiming", initial=True)
    connected = State("connected")
    closing = State("closing")
    closed = State("closed", final=True)

    granted = claiming.to(connected)
    refused = claiming.to(closing, on="refuse")
    server_close = connected.to(closing, on="end_session")
    client_left = claiming.to(closed) | connected.to(closed, on="end_session") | closing.to(closed)
    unresponsive = connected.to(closed, on=["end_session", "abort"]) | closing.to(
        closed, on="abort"
    )

    def refuse(self) -> None:
        """No unit for this client."""
        self.emit(SendRefusal())

    def end_session(self) -> None:
        """The lease goes back first."""
        self.emit(EndSession())

    def abort(self) -> None:
        """The peer does not read."""
        self.emit(AbortTransport())

    def on_enter_closing(self) -> None:
        """Say goodbye as the protocol wants it."""
        self.emit(SendClose())
