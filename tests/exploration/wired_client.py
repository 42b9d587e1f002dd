"""A client with a real connection, to be used as a client without one."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from s2s_actors.simulation.client import Client
from s2s_actors.simulation.fakes import level_of
from tests.exploration.far_end import Peer

if TYPE_CHECKING:
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.runtime.actor import Actor
    from tests.exploration.front import Front, Witnessed

__all__ = ["WiredClient"]

_SESSION: Final = re.compile(r"sess_[0-9a-f]{24}")
_OFF: Final = 50
"""How far a sample may be from the level of the session's voice: what resampling does."""


class WiredClient(Client):
    """Someone at the far end of a wire; what the actors have to do with it the connection does.

    Attributes:
        peer: The client itself.
        connection: The server's end, from the moment when the server has made it.
        claims: How many claims the connection has made.
        given_back: What it has sent to give back a claim or a unit.
    """

    def __init__(self, name: str, pool: Actor, front: Front) -> None:
        super().__init__(f"nobody-{name}", pool)
        self.peer = Peer(front.loop, front.secret)
        self.connection: Witnessed | None = None
        self.claims = 0
        self.given_back: list[str] = []
        self._front = front

    def meet(self, connection: Witnessed) -> None:
        """Learn who serves it."""
        self.connection = connection
        self.session_id = connection._session_id
        self.reply = connection._reply
        self.frames = self.peer.frames

    # --- what a test sees ---------------------------------------------------------------------

    @property
    def closed(self) -> int | None:
        """The code with which the server closed the connection."""
        return self.peer.wire.closed_with

    @property
    def state(self) -> str:
        """Where the connection is in its life cycle."""
        return "unmet" if self.connection is None else self.connection._chart.state_name

    @property
    def hears_all(self) -> bool:
        """Whether it has read all that was written to it."""
        return not (self.left or self.peer.gone or self.peer.frozen)

    def foreign_words(self) -> list[str]:
        """Whatever came to this client and is not its own."""
        found = []
        for event in self.events:
            text = msgspec.json.encode(event).decode()
            found += [word for word in _SESSION.findall(text) if word != self.session_id]
            if event["type"] == "response.output_audio.delta":
                samples = np.frombuffer(base64.b64decode(event["delta"]), "<i2").astype(int)
                off = int(np.abs(samples - level_of(self.session_id)).max(initial=0))
                if off > _OFF:
                    found.append(f"a voice that is off by {off}")
        return found

    # --- what it does -------------------------------------------------------------------------

    def claim(self) -> WiredClient:
        """Connect."""
        self._front.connect(self)
        return self

    def say(self, *events: ClientEvent) -> None:
        """Send events, whether there is a unit already or not."""
        for event in events:
            self.peer.say(msgspec.json.encode(event))

    def leave(self) -> None:
        """Close the connection as the protocol wants it."""
        self.left = True
        self.peer.say_goodbye()
