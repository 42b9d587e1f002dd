"""A client of one session: what a check may want to say, in a line each."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any

from .sound import silence
from .wire import Event, Wire, is_error

if TYPE_CHECKING:
    from .target import Target

__all__ = ["Client", "Event"]

AUDIO_DELTA = "response.output_audio.delta"
_STEP_MS = 40


class Client(Wire):
    """One session, for the length of a ``with`` block; see :class:`Wire`."""

    def __init__(self, target: Target, query: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(target, query, **options)
        self.sent_audio_ms = 0.0
        self.bytes_per_ms = 48

    def part(self) -> None:
        """Everything must have been answered by now, but for responses that are open."""
        if self.close_code is None and self.checker.session is not None:
            self.sync()
            if not self.checker.open_responses:
                self.checker.finish()
        super().part()

    # --- out ---

    def append(self, audio: bytes) -> None:
        """Send audio in pieces of 40 ms, at the pace of the target."""
        step = _STEP_MS * self.bytes_per_ms
        for start in range(0, len(audio), step):
            piece = audio[start : start + step]
            self.send("input_audio_buffer.append", audio=base64.b64encode(piece).decode())
            self.sent_audio_ms += len(piece) / self.bytes_per_ms
            if self.target.pace:
                time.sleep(len(piece) / self.bytes_per_ms / 1000 / self.target.pace)

    def say(self, pause_ms: int = 1200) -> None:
        """Speak, then be silent for long enough to end the turn."""
        self.append(self.target.speech + silence(pause_ms))

    def update(self, **session: Any) -> Event:
        """Change the session, wait for the confirmation, and return the effective session."""
        kind = self.of("session.created")[0]["session"]["type"]
        before, cursor = self.mark(), self._cursor
        event_id = self.send("session.update", session={"type": kind, **session})
        found = self._answer("session.updated", event_id, since=before)
        self._cursor = cursor  # nobody looks for it again
        assert found["type"] == "session.updated", f"the update was refused: {found}"
        return dict(found["session"])

    def _answer(self, type_: str, event_id: str, *, since: int) -> Event:
        self._cursor = since
        return self.event_that(
            lambda event: event["type"] == type_ or is_error(event, event_id), type_
        )

    def listen(self, *, transcribe: bool = False, **audio_input: Any) -> Event:
        """Change ``audio.input``, with ``transcribe`` also its transcription."""
        if transcribe:
            audio_input["transcription"] = {"model": "gpt-4o-mini-transcribe"}
        return self.update(audio={"input": audio_input})

    def item(self, item: Event, **fields: Any) -> Event:
        """Put an item into the conversation, and return it."""
        before = self.mark()
        event_id = self.send("conversation.item.create", item=item, **fields)
        found = self._answer("conversation.item.done", event_id, since=before)
        assert found["type"] != "error", f"the item was refused: {found}"
        return dict(found["item"])

    def write(self, text: str, *, role: str = "user", **fields: Any) -> Event:
        """Put a text message into the conversation, and return the item."""
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text}]
        return self.item({"type": "message", "role": role, "content": content}, **fields)

    def create(self, **response: Any) -> str:
        """Ask for a response; return the ``event_id`` of the request."""
        if response:
            return self.send("response.create", response=response)
        return self.send("response.create")

    def ask(self, text: str, **response: Any) -> Event:
        """A turn in writing; return the finished response."""
        self.write(text)
        self.create(**response)
        return self.done()

    def retrieve(self, item_id: str) -> Event:
        """Fetch an item."""
        self.send("conversation.item.retrieve", item_id=item_id)
        return dict(self.event("conversation.item.retrieved")["item"])

    # --- in ---

    def done(self, **fields: Any) -> Event:
        """The next finished response."""
        return dict(self.event("response.done", **fields)["response"])

    def created(self) -> Event:
        """The next response that begins."""
        return dict(self.event("response.created")["response"])

    def error(self, event_id: str | None = None) -> Event:
        """The next error, about that event."""
        event = self.event_that(lambda event: is_error(event, event_id), f"error {event_id}")
        return dict(event["error"])

    def sync(self) -> None:
        """Wait until everything that was sent before has been acted on."""
        self.update()

    def nothing(self, *types: str, since: int, for_s: float | None = None) -> None:
        """No event of these types has come since that mark, and none comes for a while."""
        wait_s = for_s if for_s is not None else 0.3 if self.target.scripted else 2.0
        self.sync()
        time.sleep(wait_s)
        found = [event for event in self.received[since:] if event["type"] in types]
        assert not found, f"this must not come: {found[:2]}"

    def no_error(self) -> None:
        """There has been no error so far."""
        assert not self.of("error"), self.of("error")

    def audio_of(self, response_id: str) -> bytes:
        """What a response has said so far."""
        deltas = [event for event in self.of(AUDIO_DELTA) if event["response_id"] == response_id]
        return b"".join(base64.b64decode(event["delta"]) for event in deltas)
