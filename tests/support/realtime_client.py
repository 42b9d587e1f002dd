"""A small realtime client for tests: it remembers everything and checks every event."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.running_server import PATIENCE_S
from tests.support.sound import silence, tone
from tests.support.stream_checker import CrossSessionChecker, StreamChecker
from tests.support.strict_events import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from tests.support.running_server import Address

__all__ = ["RealtimeClient", "Received", "script"]

Event = dict[str, Any]

APPEND_MS = 20
_BYTES_PER_MS = 48
AUDIO_DELTA = "response.output_audio.delta"
REFUSALS = (
    "session_limit_reached",
    "server_is_overloaded",
    "backend_failing",
    "server_shutting_down",
    "server_starting",
    "internal_error",
)


def script(*answers: str | Mapping[str, Any], **more: Any) -> str:
    """Instructions (or an STT prompt) that tell the scripted backend what to do."""
    return "#script " + json.dumps({"answers": answers, **more} if answers else more)


@dataclass(frozen=True, slots=True)
class Received:
    """One server event."""

    at_s: float
    event: Event

    @property
    def type(self) -> str:
        """Its type."""
        return str(self.event["type"])


class RealtimeClient:
    """One session, as an asynchronous context manager.

    Waiting moves a cursor: :meth:`event` finds the next event of a type behind the one found
    last, so a test reads as a conversation. Leaving the block closes the connection properly,
    unless it is closed already. Every event is checked by itself and in its place; the first
    violation is raised by whatever waits next, or at the end of the block.

    Args:
        server: Where to connect.
        query: Of the URL.
        name: In reports of the checkers.
        watcher: Sees what several clients send and receive.
        options: For :func:`websockets.asyncio.client.connect`.

    Attributes:
        received: All server events, oldest first.
        close_code: How the server closed, None while it has not (1006: no close frame).
        checker: Follows the session.
    """

    def __init__(
        self,
        server: Address,
        query: str = "?model=test",
        *,
        name: str = "session",
        watcher: CrossSessionChecker | None = None,
        **options: Any,
    ) -> None:
        self.name = name
        self.checker = StreamChecker(name)
        self._watcher = watcher
        self._violation: AssertionError | None = None
        self._connect = connect(
            f"ws://127.0.0.1:{server.port}/v1/realtime{query}",
            **{
                "proxy": None,
                "max_size": None,
                "compression": None,
                "ping_interval": None,
                **options,
            },
        )
        self.received: list[Received] = []
        self.close_code: int | None = None
        self.close_reason = ""
        self.ws: ClientConnection
        self._cursor = 0
        self._changed = asyncio.Event()
        self._numbers = itertools.count(1)
        self._reader: asyncio.Task[None]

    # --- coming and going -------------------------------------------------------------

    async def __aenter__(self) -> Self:
        async with asyncio.timeout(PATIENCE_S):
            self.ws = await self._connect
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            if self.close_code is None and not self._reader.done():
                await self.close()
            self._raise_violation()
        else:
            self.reset()
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def close(self) -> None:
        """Close properly, and wait for the server to do the same.

        Unless a response is open, everything must have been answered by then.
        """
        await self.sync()
        if not self.checker.open_responses:
            self.checker.finish()
        async with asyncio.timeout(PATIENCE_S):
            await self.ws.close()
        await self.closed()

    async def vanish(self) -> None:
        """Be gone with a TCP RST, and wait until nothing is left of the connection here."""
        self.reset()
        await self.closed()

    async def closed(self) -> int:
        """Wait until the connection is over; return the close code."""
        async with asyncio.timeout(PATIENCE_S):
            await self._reader
        assert self.close_code is not None
        return self.close_code

    def reset(self) -> None:
        """Vanish with a TCP RST."""
        sock = self.ws.transport.get_extra_info("socket")
        with contextlib.suppress(OSError, AttributeError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.ws.transport.abort()

    def say_goodbye_only(self) -> None:
        """Send a close frame, and never close the TCP connection."""
        self.ws.transport.pause_reading()
        self.ws.protocol.send_close(1000)
        for data in self.ws.protocol.data_to_send():
            self.ws.transport.write(data)

    async def stop_reading(self) -> None:
        """Leave everything that the server sends from now on in the socket."""
        self.ws.transport.pause_reading()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    # --- out --------------------------------------------------------------------------

    async def send(self, type_: str, **fields: Any) -> str:
        """Send an event; return its ``event_id``."""
        event_id = f"{self.name}-{next(self._numbers)}"
        event = {"type": type_, "event_id": event_id, **fields}
        self._note(event)
        await self._transmit(json.dumps(event))
        return event_id

    async def send_raw(self, frame: str | bytes) -> None:
        """Send a frame as it is."""
        try:
            self._note(json.loads(frame))
        except (ValueError, RecursionError):
            self._note(frame)
        await self._transmit(frame)

    async def _transmit(self, frame: str | bytes) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.ws.send(frame)

    def _note(self, event: object) -> None:
        self.checker.client(event)
        if self._watcher is not None:
            self._watcher.client(self.name, event)

    async def append(self, pcm: bytes, *, step_ms: int = APPEND_MS) -> None:
        """Send audio in small pieces, as fast as they go."""
        step = step_ms * _BYTES_PER_MS
        for start in range(0, len(pcm), step):
            piece = base64.b64encode(pcm[start : start + step]).decode()
            await self.send("input_audio_buffer.append", audio=piece)

    async def say(self, ms: int = 600, *, hz: float = 440.0, pause_ms: int = 800) -> None:
        """Speak (a tone), then be silent for long enough to end the turn."""
        await self.append(tone(ms, hz=hz) + silence(pause_ms))

    async def update(self, **session: Any) -> Event:
        """Change the session and wait for the confirmation; return the effective session."""
        await self.send("session.update", session={"type": "realtime", **session})
        return dict((await self.event("session.updated"))["session"])

    async def play(
        self,
        *answers: str | Mapping[str, Any],
        stt: Sequence[str | Mapping[str, Any]] = (),
        transcribe: bool = True,
        audio: Mapping[str, Any] | None = None,
        **session: Any,
    ) -> Event:
        """Set what the scripted LLM answers and, with ``stt``, what the STT hears."""
        given: dict[str, Any] = dict(audio or {})
        if transcribe:
            transcription: dict[str, Any] = {"model": "scripted"}
            if stt:
                transcription["prompt"] = script(*stt)
            given["input"] = {"transcription": transcription, **given.get("input", {})}
        if answers:
            session["instructions"] = script(*answers)
        return await self.update(**({"audio": given} if given else {}), **session)

    async def write(self, text: str, *, role: str = "user") -> Event:
        """Put a text message into the conversation; return the item."""
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        await self.send("conversation.item.create", item=item)
        return dict((await self.event("conversation.item.done"))["item"])

    async def create(self, **response: Any) -> str:
        """Ask for a response; return the ``event_id`` of the request."""
        if response:
            return await self.send("response.create", response=response)
        return await self.send("response.create")

    async def ask(self, text: str, **response: Any) -> Event:
        """A whole text turn; return the finished response."""
        await self.write(text)
        await self.create(**response)
        return await self.done()

    # --- in ---------------------------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        """All server events."""
        return [each.event for each in self.received]

    @property
    def types(self) -> list[str]:
        """Types of all server events."""
        return [each.type for each in self.received]

    @property
    def session_id(self) -> str:
        """Id of the session, known once ``session.created`` has come."""
        return str(self.received[0].event["session"]["id"])

    def of(self, type_: str) -> list[Event]:
        """All events of a type so far."""
        return [event for event in self.events if event["type"] == type_]

    def mark(self) -> int:
        """How many events have come so far."""
        return len(self.received)

    async def event(self, type_: str, *, within_s: float = PATIENCE_S, **fields: Any) -> Event:
        """The next event of a type, with these fields, behind the one that was found last."""

        def matches(event: Event) -> bool:
            return event["type"] == type_ and all(event.get(k) == v for k, v in fields.items())

        return await self.event_that(matches, f"{type_} {fields or ''}", within_s=within_s)

    async def event_that(
        self, matches: Callable[[Event], bool], what: str, *, within_s: float = PATIENCE_S
    ) -> Event:
        """The next event that matches, behind the one that was found last."""
        position = self._cursor
        try:
            async with asyncio.timeout(within_s):
                while True:
                    self._raise_violation()
                    while position < len(self.received):
                        event = self.received[position].event
                        position += 1
                        if matches(event):
                            self._cursor = position
                            return event
                    if self.close_code is not None:
                        raise AssertionError(
                            f"closed ({self.close_code}) before {what}: {self._shown()}"
                        )
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"no {what} within {within_s:g} s: {self._shown()}") from None

    async def done(self, **fields: Any) -> Event:
        """The next finished response."""
        return dict((await self.event("response.done", **fields))["response"])

    async def error(self, *, event_id: str | None = None) -> Event:
        """The next error, about that event."""

        def matches(event: Event) -> bool:
            if event["type"] != "error":
                return False
            return event_id is None or event["error"].get("event_id") == event_id

        return dict((await self.event_that(matches, f"error {event_id}"))["error"])

    async def sync(self) -> None:
        """Wait until everything that was sent before has been acted on."""
        event_id = await self.send("conversation.item.retrieve", item_id="item_nosuch")
        cursor = self._cursor
        await self.error(event_id=event_id)
        self._cursor = cursor

    def audio_of(self, response_id: str) -> bytes:
        """What a response has said so far, as PCM."""
        return b"".join(
            base64.b64decode(event["delta"])
            for event in self.of(AUDIO_DELTA)
            if event["response_id"] == response_id
        )

    def _shown(self) -> str:
        return ", ".join(self.types[-30:]) + f"; last: {str(self.events[-1:])[:600]}"

    def _raise_violation(self) -> None:
        if self._violation is not None:
            raise self._violation

    def _refuses(self, event: Event) -> bool:
        """Whether this is the one thing that a client without a session hears."""
        return (
            len(self.received) == 1
            and event["type"] == "error"
            and event["error"]["code"] in REFUSALS
        )

    def _check(self, event: Event) -> None:
        try:
            validate(event)
            if self._refuses(event):
                return
            self.checker.server(event)
            if self._watcher is not None:
                self._watcher.server(self.name, event)
        except AssertionError as violation:
            self._violation = self._violation or violation

    async def _read(self) -> None:
        try:
            while True:
                event = json.loads(await self.ws.recv())
                self.received.append(Received(time.monotonic(), event))
                self._check(event)
                self._changed.set()
        except ConnectionClosed as closed:
            self.close_code = 1006 if closed.rcvd is None else closed.rcvd.code
            self.close_reason = "" if closed.rcvd is None else closed.rcvd.reason
        finally:
            if self.close_code is None:
                self.close_code = 1006
            self._changed.set()
