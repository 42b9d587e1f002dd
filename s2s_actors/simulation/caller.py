"""A caller of a simulated server: what it says, and what it hears."""

from __future__ import annotations

import base64
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from s2s_actors.actors import messages as m
from s2s_actors.actors.ports import ClaimReply, Granted, Refused, SessionWish
from s2s_actors.errors import ClientError
from s2s_actors.protocol.audio import size_bytes
from s2s_actors.protocol.codec import decode, encode
from s2s_actors.protocol.server_events import client_error
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.simulation.reading import Event, answers_in, calls_in, heard_in
from s2s_actors.simulation.sounds import loud, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from s2s_actors.runtime.clock import Clock
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.simulation.speech import SpokenWords

__all__ = ["Caller", "CallerSetup", "Exchange"]

FRAME_MS: Final = 100
"""Of sound in one event: clients send 20 to 100 ms, and a long piece takes no more steps."""
PAUSE_MS: Final = 800
"""More silence than any kind of voice detection takes for the end of a turn."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An event, and who sent it."""

    side: Literal["client", "server"]
    event: Event


@dataclass(frozen=True, slots=True)
class CallerSetup:
    """What a caller comes with.

    Attributes:
        name: In the report.
        session_id: Of the session that it asks for.
        wish: What it asks for in the address.
        session: Settings that it sends first.
        tools: What it calls when the model asks for it; the text or table that comes back is
            sent as the output, and another answer is asked for.
        on_event: Is shown each event once it has come; may send others.
    """

    name: str
    session_id: str
    wish: SessionWish = field(default_factory=SessionWish)
    session: Mapping[str, Any] | None = None
    tools: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    on_event: Callable[[Caller, Event], None] | None = None


class Caller:
    """Someone who calls, talks, listens and hangs up, all in virtual time.

    What it is told to say waits until the server has greeted it; then it is sent in order,
    sound as fast as it plays. It stands for the client and for its connection: it does for the
    actors what a connection does.

    Attributes:
        log: All events of both sides, as it sent and received them.
        refused: Why it got no unit, None if it did or does not know yet.
        closed: The close code and the reason with which the server ended the session.
    """

    def __init__(self, setup: CallerSetup, pool: Outlet, clock: Clock, spoken: SpokenWords) -> None:
        self.name = setup.name
        self.session_id = setup.session_id
        self.log: list[Exchange] = []
        self.refused: Refused | None = None
        self.closed: tuple[int, str] | None = None
        self._setup = setup
        self._pool = pool
        self._clock = clock
        self._spoken = spoken
        self._reply: ReplyPort[ClaimReply] = ReplyPort()
        self._granted: Granted | None = None
        self._frames: deque[bytes] = deque()
        self._farewell: tuple[int, str] | None = None
        self._to_do: deque[Event | bytes] = deque()
        self._is_waiting = False
        self._is_greeted = False
        self._has_left = False
        self._sent = 0
        pool.put(m.Claim(self.session_id, self, self._reply, setup.wish))
        if setup.session is not None:
            self.send_event({"type": "session.update", "session": dict(setup.session)})

    # --- what a test tells it to do -------------------------------------------------------

    def say_text(self, text: str) -> None:
        """Write something, and ask for an answer."""
        part = {"type": "input_text", "text": text}
        item = {"type": "message", "role": "user", "content": [part]}
        self.send_event({"type": "conversation.item.create", "item": item})
        self.send_event({"type": "response.create"})

    def speaks(self, what: str | float | bytes, *, then_silent_ms: int = PAUSE_MS) -> None:
        """Say something, as fast as it plays, and then nothing for a while.

        Args:
            what: Words, which the speech recognition of the simulation knows again; or how
                many milliseconds of some speech; or PCM at 24 kHz (16 bit, little-endian, mono).
            then_silent_ms: So much silence follows: with less than ends a turn, it goes on with
                what it is told next.
        """
        if isinstance(what, str):
            what = self._spoken.sound_of(self.session_id, what)
        elif not isinstance(what, bytes):
            what = loud(round(what))
        sound, frame_bytes = what + silent(then_silent_ms), size_bytes(FRAME_MS)
        self._to_do.extend(
            sound[start : start + frame_bytes] for start in range(0, len(sound), frame_bytes)
        )

    def send_event(self, event: Mapping[str, Any]) -> None:
        """Send any event; one without ``event_id`` gets one."""
        self._to_do.append(dict(event))

    def hang_up(self) -> None:
        """Go, in the middle of whatever there is."""
        if self._has_left:
            return
        self._has_left = True
        self._to_do.clear()
        answer = self._reply.withdraw()
        if answer is None:
            self._pool.put(m.CancelClaim(self.session_id))
        elif isinstance(answer, Granted):
            answer.unit.put(m.EndSession(answer.lease, "the caller hung up"))

    # --- what a test wants to know --------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        """What it was sent."""
        return [each.event for each in self.log if each.side == "server"]

    @property
    def types(self) -> list[str]:
        """The types of what it was sent."""
        return [event["type"] for event in self.events]

    @property
    def answers(self) -> list[str]:
        """What the assistant said or wrote, a text for each response that has any."""
        return answers_in(self.events)

    @property
    def answer(self) -> str:
        """The last of the answers; empty if there is none."""
        return (self.answers or [""])[-1]

    @property
    def heard(self) -> list[str]:
        """The transcripts of what it said."""
        return heard_in(self.events)

    @property
    def is_in(self) -> bool:
        """Whether it has got a unit and neither side has hung up."""
        return self._granted is not None and not self._has_left

    @property
    def has_left(self) -> bool:
        """Whether its connection is over, whoever ended it."""
        return self._has_left

    # --- what the actors know of it: ClientPort -------------------------------------------

    def send(self, frame: bytes) -> None:
        """Take an event on its way, unless the connection is over."""
        if self._farewell is None and not self._has_left:
            self._frames.append(frame)

    def close(self, code: int, reason: str) -> None:
        """Take leave after what is on its way; the first one counts."""
        if self._farewell is None:
            self._farewell = (code, reason)

    # --- what the simulation does with it ---------------------------------------------------

    def put(self, message: object) -> None:
        """The time of a frame of sound is over (an outlet, for the clock)."""
        del message
        self._is_waiting = False

    @property
    def is_ready(self) -> bool:
        """Whether there is something that it does next."""
        if self._has_left:
            return False
        if self._frames or self._farewell is not None or self._has_answer:
            return True
        return self._is_greeted and bool(self._to_do) and not self._is_waiting

    @property
    def _has_answer(self) -> bool:
        return self._granted is None and self.refused is None and self._reply.future.done()

    def step(self) -> None:
        """Do the next thing: see the answer to the claim, take an event, part, or say something."""
        if self._has_answer:
            self._take_answer()
        elif self._frames:
            self._receive(msgspec.json.decode(self._frames.popleft()))
        elif self._farewell is not None:
            self.closed = self._farewell
            self.hang_up()
        else:
            self._say(self._to_do.popleft())

    def _take_answer(self) -> None:
        answer = self._reply.future.result()
        if isinstance(answer, Granted):
            self._granted = answer
        else:
            self.refused = answer
            self.close(answer.close_code, answer.message)

    def _receive(self, event: Event) -> None:
        self.log.append(Exchange("server", event))
        self._is_greeted = self._is_greeted or event["type"] == "session.created"
        outputs = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": _as_text(self._setup.tools[call.name](**call.arguments)),
            }
            for call in calls_in(event)
            if call.name in self._setup.tools
        ]
        for item in outputs:
            self.send_event({"type": "conversation.item.create", "item": item})
        if outputs:
            self.send_event({"type": "response.create"})
        if self._setup.on_event is not None:
            self._setup.on_event(self, event)

    def _say(self, what: Event | bytes) -> None:
        if isinstance(what, bytes):
            audio = base64.b64encode(what).decode()
            what = {"type": "input_audio_buffer.append", "audio": audio}
            self._is_waiting = True
            self._clock.tell_later(FRAME_MS / 1000, self, None)
        self._sent += 1
        what.setdefault("event_id", f"{self.name}-{self._sent}")
        self.log.append(Exchange("client", what))
        assert self._granted is not None
        raw = json.dumps(what)
        try:
            frame = m.ClientFrame(
                self._granted.lease, decode(raw), self._clock.monotonic_s(), len(raw)
            )
            self._granted.inlet.put(frame)
        except ClientError as error:
            self.send(encode(client_error(error)))
        except LaneFullError:
            message = "Events come faster than they can be handled; this one was dropped."
            full = ClientError("input_backpressure", message, event_id=what["event_id"])
            self.send(encode(client_error(full)))


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output)
