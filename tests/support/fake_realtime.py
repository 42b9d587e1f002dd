"""A Realtime server that plays a set sequence of events over a real websocket.

It understands nothing: a script says what it sends, when it waits and how it ends. Run as
a program it stands in for ``s2s-actors serve``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Self, TypeAlias, assert_never

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

BYTES_PER_MS = 48


@dataclass(frozen=True, slots=True)
class Send:
    """Send an event; ``event_id`` is added."""

    event: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SendText:
    """Send a text frame as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Expect:
    """Wait until an event of this type has come from the client."""

    type: str


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait until the client has sent this much audio in all."""

    ms: int


@dataclass(frozen=True, slots=True)
class Close:
    """Close properly."""

    code: int = 1000
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Abort:
    """Drop the connection without a close frame."""


Step: TypeAlias = Send | SendText | Expect | Hear | Close | Abort


class FakeRealtime:
    """Plays ``script`` to every client until the ``with`` block ends.

    Attributes:
        received: Events of all clients in order of arrival, without audio.
        heard: Audio of all clients, as it was appended.
        close_codes: Close code that each client sent (1006 for none).
        pool: What ``GET /v1/pool`` answers; None for 404.
    """

    def __init__(
        self,
        script: Sequence[Step] = (),
        *,
        refuse: HTTPStatus | None = None,
        pool: Mapping[str, object] | None = None,
    ) -> None:
        self.received: list[dict[str, object]] = []
        self.heard = bytearray()
        self.close_codes: list[int] = []
        self.pool = pool
        self.url = ""
        self._script = script
        self._refuse = refuse
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._main(),))
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with serve(
            self._talk, "127.0.0.1", 0, process_request=self._answer_get, max_size=None
        ) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            self.url = f"ws://127.0.0.1:{port}/v1/realtime"
            self._ready.set()
            await self._stop.wait()

    def _answer_get(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/v1/pool" and self.pool is not None:
            return connection.respond(HTTPStatus.OK, json.dumps(self.pool))
        if self._refuse is not None:
            return connection.respond(self._refuse, "no\n")
        if not request.path.startswith("/v1/realtime"):
            return connection.respond(HTTPStatus.NOT_FOUND, "no\n")
        return None

    async def _talk(self, socket: ServerConnection) -> None:
        client = _Client(socket, self)
        player = asyncio.create_task(client.play(self._script))
        try:
            await client.read()
        finally:
            player.cancel()
            await asyncio.gather(player, return_exceptions=True)
            self.close_codes.append(socket.close_code or 1006)


@dataclass(slots=True)
class _Client:
    socket: ServerConnection
    server: FakeRealtime
    heard_bytes: int = 0
    types: list[str] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def read(self) -> None:
        try:
            async for frame in self.socket:
                await self._take(json.loads(frame))
        except ConnectionClosed:
            return

    async def _take(self, event: dict[str, object]) -> None:
        async with self.news:
            self.types.append(str(event["type"]))
            if event["type"] == "input_audio_buffer.append":
                audio = base64.b64decode(str(event["audio"]))
                self.heard_bytes += len(audio)
                self.server.heard += audio
            else:
                self.server.received.append(event)
            self.news.notify_all()

    async def play(self, script: Sequence[Step]) -> None:
        for number, step in enumerate(script):
            match step:
                case Send(event):
                    await self.socket.send(json.dumps({"event_id": f"event_{number}", **event}))
                case SendText(text):
                    await self.socket.send(text)
                case Expect(wanted):
                    await self._until(partial(self._has_come, wanted))
                case Hear(ms):
                    await self._until(partial(self._has_heard, ms))
                case Close(code, reason):
                    await self.socket.close(code, reason)
                case Abort():
                    self.socket.transport.abort()
                case _:
                    assert_never(step)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self.news:
            await self.news.wait_for(condition)

    def _has_come(self, wanted: str) -> bool:
        return wanted in self.types

    def _has_heard(self, ms: int) -> bool:
        return self.heard_bytes >= ms * BYTES_PER_MS


def opening() -> list[Step]:
    """A session opens and takes the client's settings."""
    session = {"type": "realtime", "id": "sess_1"}
    return [
        Send({"type": "session.created", "session": session}),
        Expect("session.update"),
        Send({"type": "session.updated", "session": session}),
    ]


def utterance(number: int, transcript: str | None, *, stop_after_ms: int) -> list[Step]:
    """The user is heard; ``transcript`` None leaves the transcript out."""
    item_id = f"item_u{number}"
    steps: list[Step] = [
        Send(
            {
                "type": "input_audio_buffer.speech_started",
                "item_id": item_id,
                "audio_start_ms": 0,
            }
        ),
        Hear(stop_after_ms),
        Send(
            {
                "type": "input_audio_buffer.speech_stopped",
                "item_id": item_id,
                "audio_end_ms": stop_after_ms,
            }
        ),
        Send({"type": "input_audio_buffer.committed", "item_id": item_id}),
    ]
    if transcript is not None:
        steps.append(Send(transcribed(number, transcript)))
    return steps


def transcribed(number: int, transcript: str) -> dict[str, object]:
    """The transcript of utterance ``number``."""
    return {
        "type": "conversation.item.input_audio_transcription.completed",
        "item_id": f"item_u{number}",
        "content_index": 0,
        "transcript": transcript,
        "usage": {"type": "duration", "seconds": 1.0},
    }


def answer(number: int, words: Sequence[str], audio: bytes, *, pieces: int = 4) -> list[Step]:
    """A spoken response with one transcript delta a word and ``pieces`` audio deltas."""
    of = {"response_id": f"resp_{number}", "item_id": f"item_a{number}"}
    size = max(2, len(audio) // pieces // 2 * 2)
    deltas = [audio[start : start + size] for start in range(0, len(audio), size)]
    return [
        created(number),
        *(
            Send({"type": "response.output_audio_transcript.delta", "delta": word, **of})
            for word in words
        ),
        *(
            Send(
                {
                    "type": "response.output_audio.delta",
                    "delta": base64.b64encode(delta).decode(),
                    **of,
                }
            )
            for delta in deltas
        ),
        Send({"type": "response.output_audio.done", **of}),
        Send(
            {
                "type": "response.output_audio_transcript.done",
                "transcript": "".join(words),
                **of,
            }
        ),
        done(number),
    ]


def created(number: int) -> Send:
    """A response begins."""
    response = {"id": f"resp_{number}", "status": "in_progress"}
    return Send({"type": "response.created", "response": response})


def done(
    number: int, status: str = "completed", details: Mapping[str, object] | None = None
) -> Send:
    """A response ends."""
    response = {"id": f"resp_{number}", "status": status, "status_details": details}
    return Send({"type": "response.done", "response": response})


def error(code: str, message: str) -> Send:
    """An error event."""
    details = {"type": "invalid_request_error", "code": code, "message": message}
    return Send({"type": "error", "error": details})


def one_turn(*, question_ms: int, answer_pcm: bytes) -> list[Step]:
    """A whole conversation of one turn about the capital of France."""
    return [
        *opening(),
        *utterance(1, "What is the capital of France?", stop_after_ms=question_ms + 100),
        *answer(1, ["The capital", " of France", " is Paris."], answer_pcm),
    ]


def main() -> None:
    """Be ``s2s-actors serve`` until a signal comes."""
    sys.stderr.write("loading a fake model\n")
    with FakeRealtime(one_turn(question_ms=300, answer_pcm=bytes(9600))) as server:
        sys.stdout.write(f"listening on {server.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
