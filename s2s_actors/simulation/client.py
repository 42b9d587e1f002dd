"""A client of actors that are stepped by hand, without a connection."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from s2s_actors.actors import messages as m
from s2s_actors.actors.ports import ClaimReply, Granted
from s2s_actors.protocol import client_events as ce
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.simulation.fakes import level_of
from s2s_actors.simulation.sounds import text_item

if TYPE_CHECKING:
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.runtime.actor import Actor

__all__ = ["Client"]


class Client:
    """A client and its connection: asks for a unit, keeps what it is sent, leaves."""

    def __init__(self, session_id: str, pool: Actor) -> None:
        self.session_id = session_id
        self.frames: list[bytes] = []
        self.farewells: list[tuple[int, str]] = []
        self.left = False
        self.reply: ReplyPort[ClaimReply] = ReplyPort()
        self._pool = pool

    # --- what the actors know of it -----------------------------------------------------

    def send(self, frame: bytes) -> None:
        """Take an event, unless the connection is over."""
        if self.closed is None and not self.left:
            self.frames.append(frame)

    def close(self, code: int, reason: str) -> None:
        """Note how the server parts."""
        self.farewells.append((code, reason))

    # --- what a test does -----------------------------------------------------------------

    @property
    def closed(self) -> int | None:
        """The code with which the server closed the connection; the first one counts."""
        return self.farewells[0][0] if self.farewells else None

    @property
    def answer(self) -> ClaimReply | None:
        """What became of the claim, None while that is open."""
        future = self.reply.future
        return future.result() if future.done() and not future.cancelled() else None

    @property
    def granted(self) -> Granted | None:
        """The grant, if there is one."""
        return self.answer if isinstance(self.answer, Granted) else None

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it was sent."""
        return [msgspec.json.decode(frame) for frame in self.frames]

    @property
    def types(self) -> list[str]:
        """The types of what it was sent."""
        return [event["type"] for event in self.events]

    @property
    def status(self) -> str | None:
        """How its last response ended."""
        done = [e["response"]["status"] for e in self.events if e["type"] == "response.done"]
        return done[-1] if done else None

    def claim(self) -> Client:
        """Ask for a unit."""
        self._pool.outlet.put(m.Claim(self.session_id, self, self.reply))
        return self

    def say(self, *events: ClientEvent) -> None:
        """Send events, as far as there is still someone to send them to."""
        if self.granted is None or self.left:
            return
        for event in events:
            self.granted.inlet.put(m.ClientFrame(self.granted.lease, event, 0.0, 100))

    def ask(self, text: str = "hello") -> None:
        """Ask something in writing."""
        self.say(text_item(text), ce.ResponseCreate())

    def leave(self) -> None:
        """Go, as a connection does it: give back what was granted, or the claim."""
        self.left = True
        answer = self.reply.withdraw()
        if answer is None:
            self._pool.outlet.put(m.CancelClaim(self.session_id))
        elif isinstance(answer, Granted):
            answer.unit.put(m.EndSession(answer.lease, "the client left"))

    def foreign_words(self) -> list[str]:
        """Whatever came to this client and is not its own."""
        found = []
        for event in self.events:
            text = msgspec.json.encode(event).decode()
            found += [
                word
                for word in text.replace('"', " ").split()
                if "canary" in word and not word.startswith(self.session_id)
            ]
            if event["type"] == "response.output_audio.delta":
                samples = np.frombuffer(base64.b64decode(event["delta"]), "<i2").astype(int)
                off = int(np.abs(samples - level_of(self.session_id)).max(initial=0))
                if off > 50:
                    found.append(f"a voice that is off by {off}")
        return found
