"""A language model without a model, behind the chat-completions API.

It makes the answers of a server predictable. What it does follows from what it was given, so
it can tell whether the server gives it the right things. Start it by itself with::

    python scripted_model.py PORT
"""

from __future__ import annotations

import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Answer", "answer", "main"]

Body = dict[str, Any]
_SLOW_WORD_S = 0.05


class Answer:
    """What the model says to a request.

    Args:
        text: Said word by word.
        calls: Names of functions to call after it.
        slow: Whether each word takes a while.
        fails: Whether the request fails instead.
    """

    def __init__(
        self,
        text: str = "",
        *,
        calls: tuple[str, ...] = (),
        slow: bool = False,
        fails: bool = False,
    ) -> None:
        self.text, self.calls, self.slow, self.fails = text, calls, slow, fails


def answer(body: Body) -> Answer:
    """The answer to a request."""
    messages = body["messages"]
    last = messages[-1] if messages else {"role": "system"}
    user = next((_text(m) for m in reversed(messages) if m["role"] == "user"), "")
    calls = _calls(body, last, user)
    if calls:
        return Answer(calls=calls)
    if last["role"] == "tool":
        return Answer(f"The tool says {_text(last)}.")
    if fixed := re.search(r"Answer only with the word (\w+)", _system(messages)):
        return Answer(f"{fixed[1]}.")
    return _said(messages, user)


def _said(messages: list[Body], user: str) -> Answer:
    if said := re.search(r"Say exactly: (.*)", user):
        return Answer(said[1])
    if "Please fail" in user:
        return Answer(fails=True)
    if "Count from one to" in user:
        return Answer(" ".join(f"This is number {n}." for n in range(1, 60)), slow=True)
    return Answer(_remembered(messages, user) or f"You said {user or 'nothing'}.")


def _remembered(messages: list[Body], user: str) -> str | None:
    if "Repeat" in user:
        own = [_text(m) for m in messages if m["role"] == "assistant" and _text(m)]
        return own[-1] if own else "I have said nothing."
    if "secret word?" in user:
        found = re.findall(r"secret word is (\w+)", " ".join(map(_text, messages)))
        return f"It is {found[-1]}." if found else "I do not know it."
    return "Paris is the capital of France." if "capital of France" in user else None


def _calls(body: Body, last: Body, user: str) -> tuple[str, ...]:
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, dict):
        return (choice["function"]["name"],)
    if not names or choice == "none" or last["role"] == "tool":
        return ()
    if "both tools" in user:
        return (names[0], names[-1])
    return (names[0],) if choice == "required" or "weather" in user else ()


def _text(message: Body) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)


def _system(messages: list[Body]) -> str:
    return next((_text(m) for m in reversed(messages) if m["role"] == "system"), "")


def chunks(body: Body) -> Iterator[Body]:
    """The chunks of a streamed answer."""
    said = answer(body)
    words = re.findall(r"\s*\S+", said.text)
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or len(words)
    for word in words[:limit]:
        yield _chunk({"content": word})
        time.sleep(_SLOW_WORD_S if said.slow else 0)
    for index, name in enumerate(said.calls):
        function = {"name": name, "arguments": ""}
        call_id = f"call_{time.monotonic_ns()}_{index}"
        yield _chunk({"tool_calls": [{"index": index, "id": call_id, "function": function}]})
        for piece in ('{"city":', ' "Paris"', "}"):
            yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    reason = "length" if len(words) > limit else "tool_calls" if said.calls else "stop"
    read = sum(len(_text(message).split()) for message in body["messages"])
    wrote = len(words[:limit]) + len(said.calls)
    usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    yield _chunk({}, finish_reason=reason) | {"usage": usage}


def _chunk(delta: Body, finish_reason: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "script"}
    return {**head, "choices": [choice]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "script", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if answer(body).fails:
            self._json(500, {"error": {"message": "The script says so."}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for chunk in chunks(body):
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # the server has heard enough

    def _json(self, status: int, body: Body) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


def main() -> None:
    """Serve until killed; the first line tells the address."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    sys.stdout.write(f"listening on http://127.0.0.1:{server.server_port}/v1\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
