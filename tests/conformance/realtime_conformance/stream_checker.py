"""Checks the events of a session, as a client sees them, against the protocol's invariants.

Black box: it knows the protocol and nothing of the server, so any test that talks to a
server, in memory or over a websocket, can run under it.

    I1   the first server event is ``session.created`` with an id, and it comes once
    I2   ``response.*`` only between its ``response.created`` and its one ``response.done``
    I3   at most one open response of the default conversation
    I4   ``output_index`` is contiguous; ``response.done.output`` lists just those items
    I5   deltas add up to ``done``, to the item and to ``response.done``; one done a part
    I6   ``output_audio.done`` only after audio; audio, transcript, response end in this order
    I7   ``speech_started`` and ``speech_stopped`` alternate on one clock that never goes back
    I8   each committed utterance gets one transcript or one failure while transcription is on
    I9   transcription deltas are never taken back, and none follows the end
    I10  a rejected client event gets one error with its ``event_id``; others get their answer
    I11  no id and no canary word of one session in another (:class:`CrossSessionChecker`)

``IDS`` and ``ITEMS`` name two more: event ids are unique; items are added once, done once,
and ``previous_item_id`` tells their true place.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from .cross_session import CrossSessionChecker
from .stream_conversation import ConversationRules
from .stream_responses import ResponseRules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CrossSessionChecker", "StreamChecker"]

Event: TypeAlias = "dict[str, Any]"

SHOWN_EVENTS = 12
CLIENT_TYPES = (
    "session.update",
    "input_audio_buffer.append",
    "input_audio_buffer.clear",
    "input_audio_buffer.commit",
    "conversation.item.create",
    "conversation.item.delete",
    "conversation.item.retrieve",
    "conversation.item.truncate",
    "response.create",
    "response.cancel",
    "output_audio_buffer.clear",
)
"""Every type that a client may send; another one has to be answered by an error."""


class StreamChecker:
    """Follows one session.

    Feed it every event in the order in which the client sent or received it: a client
    event *before* it is sent. Both methods raise ``AssertionError`` at the first violation;
    the message names the invariant and shows the latest events.
    """

    def __init__(self, name: str = "session") -> None:
        self.name = name
        self.session: Event | None = None
        self._latest: deque[tuple[str, object]] = deque(maxlen=SHOWN_EVENTS)
        self._event_ids: set[str] = set()
        self._sent: Counter[str] = Counter()
        self._acks: Counter[str] = Counter()
        self._kind_of: dict[str, list[str]] = {}
        self._errors_of: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self._anonymous_errors = 0
        self._anonymous_sent = 0
        self._conversation = ConversationRules(self._fail, self._acknowledge)
        self._responses = ResponseRules(self._fail, self._conversation)
        self._handlers: dict[str, Callable[[Event], None]] = {
            "session.created": self._session_created,
            "session.updated": self._session_updated,
            "error": self._error,
            "response.created": self._response_created,
            "response.done": self._response_done,
        }

    # --- what happens ---------------------------------------------------------------------

    def client(self, event: object) -> None:
        """The client sends this: decoded JSON, or text that is no JSON."""
        self._note("C", event)
        body: Mapping[str, Any] = event if isinstance(event, dict) else {}
        kind = body.get("type")
        kind = kind if isinstance(kind, str) and kind in CLIENT_TYPES else "?"
        self._sent[kind] += 1
        event_id = body.get("event_id")
        if isinstance(event_id, str) and len(event_id) <= 512:
            self._kind_of.setdefault(event_id, []).append(kind)
        else:
            self._anonymous_sent += 1

    def server(self, event: Event) -> None:
        """The client receives this."""
        self._note("S", event)
        self._check_event_id(event)
        if self.session is None and event["type"] != "session.created":
            self._fail("I1", f"{event['type']} came before session.created")
        if handler := self._handlers.get(event["type"]):
            handler(event)
        self._conversation.server(event)
        self._responses.server(event)

    def finish(self, *, cut: bool = False) -> None:
        """The session is over.

        Args:
            cut: It ended in the middle (connection lost, expired): what is open stays open.
        """
        if self.session is None and not cut:
            self._fail("I1", "session.created never came")
        if cut:
            return
        self._responses.finish()
        self._conversation.finish()
        self._check_answers()

    @property
    def open_responses(self) -> list[str]:
        """Ids of the responses that have not ended."""
        return self._responses.open_ids

    @property
    def open_utterances(self) -> list[str]:
        """Ids of the items whose words are owed."""
        return self._conversation.open_utterances

    @property
    def items(self) -> list[str]:
        """Ids of the conversation's items, in its order."""
        return list(self._conversation.order)

    # --- rules of the session as a whole ------------------------------------------------------

    def _check_event_id(self, event: Event) -> None:
        event_id = event.get("event_id")
        if not isinstance(event_id, str) or not event_id:
            self._fail("IDS", "the event has no event_id")
        if event_id in self._event_ids:
            self._fail("IDS", f"event_id {event_id} came twice")
        self._event_ids.add(event_id)

    def _take_session(self, session: Event) -> None:
        self.session = session
        transcription = session.get("audio", {}).get("input", {}).get("transcription")
        self._conversation.transcription_is(transcription is not None)

    def _session_created(self, event: Event) -> None:
        if self.session is not None:
            self._fail("I1", "session.created came twice")
        if not event["session"].get("id"):
            self._fail("I1", "the session has no id")
        self._take_session(event["session"])

    def _session_updated(self, event: Event) -> None:
        session = event["session"]
        assert self.session is not None
        for name in ("id", "object", "type", "model", "expires_at"):
            if session.get(name) != self.session.get(name):
                self._fail("I1", f"session.{name} has changed")
        self._acknowledge("session.update")
        self._take_session(session)

    def _acknowledge(self, kind: str) -> None:
        """A client event of this kind was obeyed."""
        self._acks[kind] += 1
        # Servers that bound what they keep delete the oldest items unasked.
        if kind == "conversation.item.delete":
            return
        if self._acks[kind] > self._sent[kind] - self._rejected[kind]:
            self._fail("I10", f"more answers to {kind} than events that were not rejected")

    def _response_created(self, _event: Event) -> None:
        # Unlike other answers without upper bound: the server starts responses by itself too.
        self._acks["response.create"] += 1

    def _response_done(self, event: Event) -> None:
        details = event["response"]["status_details"] or {}
        if details.get("reason") == "client_cancelled":
            self._acknowledge("response.cancel")

    def _error(self, event: Event) -> None:
        error = event["error"]
        event_id = error.get("event_id")
        if event_id is None:
            self._anonymous_error(error)
            return
        kinds = self._kind_of.get(event_id)
        if not kinds:
            self._fail("I10", f"an error for event_id {event_id}, which no client event had")
        self._errors_of[event_id] += 1
        if self._errors_of[event_id] > len(kinds):
            self._fail("I10", f"more errors for event_id {event_id} than events with it")
        if len(set(kinds)) == 1:
            self._rejected[kinds[0]] += 1

    def _anonymous_error(self, error: Event) -> None:
        if error["type"] == "server_error":
            return  # not about anything that the client sent
        self._anonymous_errors += 1
        if self._anonymous_errors > self._anonymous_sent:
            self._fail("I10", "an error without event_id, but every client event had one")

    def _check_answers(self) -> None:
        unknown = self._sent["?"] - self._rejected["?"] - self._anonymous_errors
        if unknown > 0:
            self._fail("I10", f"{unknown} events of no known type got no error")
        for kind in self._sent:
            # Appends have no answer, and clearing the output belongs to other transports.
            if kind in ("?", "input_audio_buffer.append", "output_audio_buffer.clear"):
                continue
            got = self._acks[kind] + self._rejected[kind] + self._anonymous_errors
            if got < self._sent[kind]:
                self._fail("I10", f"{self._sent[kind]} {kind} sent, but only {got} answers")

    # --- telling --------------------------------------------------------------------------

    def _note(self, side: str, event: object) -> None:
        self._latest.append((side, event))

    def _fail(self, invariant: str, what: str) -> NoReturn:
        latest = (f"{side} {json.dumps(event, default=str)[:400]}" for side, event in self._latest)
        shown = "\n  ".join(latest)
        raise AssertionError(f"{invariant} ({self.name}): {what}; latest events:\n  {shown}")
