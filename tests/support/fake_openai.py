"""A chat-completions server that misbehaves on request; a real one, on a local socket."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

__all__ = ["FakeOpenAI", "Reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request.

    Attributes:
        texts: Content deltas, in order.
        tool_deltas: Entries of ``delta.tool_calls``, one chunk each, after the texts.
        finish_reason: Of the last chunk; None leaves that chunk out.
        usage: Prompt and completion tokens; None sends none.
        status: Anything but 200 is sent with an error body.
        error_code: What that body says.
        retry_after: The header ``Retry-After`` that comes with it.
        silent: Accept the request and answer nothing.
        stall_after: Go silent after so many chunks.
        drop_after: Close the connection after so many chunks.
        delay_s: Time before each chunk.
        comments: Send a keep-alive comment every 20 ms while stalled.
        raw: Sent as the first line of data, as it is.
    """

    texts: tuple[str, ...] = ("Hello", " there", ".")
    tool_deltas: tuple[dict[str, Any], ...] = ()
    finish_reason: str | None = "stop"
    usage: tuple[int, int] | None = (7, 3)
    status: int = 200
    error_code: str | None = None
    retry_after: str | None = None
    silent: bool = False
    stall_after: int | None = None
    drop_after: int | None = None
    delay_s: float = 0.0
    comments: bool = False
    raw: str | None = None

    def chunks(self) -> Iterator[dict[str, Any]]:
        """The chunks of the stream."""
        for text in self.texts:
            yield _chunk({"content": text})
        for delta in self.tool_deltas:
            yield _chunk({"tool_calls": [delta]})
        if self.finish_reason is not None:
            yield _chunk({}, self.finish_reason)
        if self.usage is not None:
            prompt, completion = self.usage
            total = prompt + completion
            usage = {"prompt_tokens": prompt, "completion_tokens": completion}
            yield _chunk(None) | {"choices": [], "usage": usage | {"total_tokens": total}}


def _chunk(delta: dict[str, Any] | None, finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "fake",
        "choices": [choice],
    }


@dataclass(slots=True)
class Seen:
    """One request as the server saw it."""

    path: str
    authorization: str | None
    body: dict[str, Any]
    closed_by_client: threading.Event = field(default_factory=threading.Event)


class FakeOpenAI:
    """Answers requests with the replies put in, in turn; the last one stays.

    Use it as a context manager; :attr:`base_url` is where it listens.
    """

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[Seen] = []
        self.arrived = threading.Semaphore(0)
        self.stopping = threading.Event()
        self._replies = deque(replies or (Reply(),))
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, name="fake-openai"
        )

    @property
    def base_url(self) -> str:
        """Base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, seen: Seen) -> Reply:
        """Note a request; return what to do with it."""
        with self._lock:
            self.requests.append(seen)
            reply = self._replies[0] if len(self._replies) == 1 else self._replies.popleft()
        self.arrived.release()
        return reply


class _Server(ThreadingHTTPServer):
    # Connections that clients keep open are shut when the server is, and their threads joined.
    daemon_threads = False

    def __init__(self, owner: FakeOpenAI) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        for connection in tuple(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the play."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the test output clean."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = Seen(self.path, self.headers["Authorization"], body)
        reply = self.server.owner.take(seen)
        if reply.silent:
            self._stall(seen, reply)
        elif reply.status != 200:
            self._refuse(reply)
        else:
            self._stream(seen, reply)

    def _refuse(self, reply: Reply) -> None:
        error = {"message": "secret-in-body", "type": "fake", "code": reply.error_code}
        body = json.dumps({"error": error}).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if reply.retry_after is not None:
            self.send_header("Retry-After", reply.retry_after)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, seen: Seen, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            if reply.raw is not None:
                self._send(f"data: {reply.raw}\n\n")
            for index, chunk in enumerate(reply.chunks()):
                if index == reply.stall_after:
                    self._stall(seen, reply)
                    return
                if index == reply.drop_after:
                    self._hang_up()
                    return
                time.sleep(reply.delay_s)
                self._send(f"data: {json.dumps(chunk)}\n\n")
            self._send("data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            seen.closed_by_client.set()
            self.close_connection = True

    def _send(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _stall(self, seen: Seen, reply: Reply) -> None:
        """Stay silent until the client hangs up or the server stops."""
        self.close_connection = True
        while not self.server.owner.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            try:
                if readable and not self.connection.recv(1, socket.MSG_PEEK):
                    seen.closed_by_client.set()
                    return
                if reply.comments:
                    self._send(": still here\n\n")
            except OSError:
                seen.closed_by_client.set()
                return

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
