"""Rules of the conversation, of speech and of transcripts, as a client sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

TRANSCRIPTION = "conversation.item.input_audio_transcription"
_OF_SERVER = ("mcp_list_tools", "mcp_call", "mcp_approval_request")
"""Types of items that no client creates."""


@dataclass(slots=True)
class _Utterance:
    """What has been told about a piece of the user's voice, committed or in a created item."""

    must_end: bool
    may_end: bool
    complete: bool = True
    ended: bool = False


class ConversationRules:
    """Mirrors the conversation from its events, and follows speech (I7, I8, I9, ITEMS)."""

    def __init__(
        self, fail: Callable[[str, str], NoReturn], acknowledge: Callable[[str], None]
    ) -> None:
        self.order: list[str] = []
        """Ids of the items, in the order of the conversation."""
        self.of_responses: set[str] = set()
        """Items that responses have put there and that are still there."""
        self.done: dict[str, dict[str, Any]] = {}
        """Items as ``conversation.item.done`` told them."""
        self._fail = fail
        self._acknowledge = acknowledge
        self.seen: set[str] = set()
        """Every item id that was ever announced."""
        self._by_client: set[str] = set()
        self._of_server: set[str] = set()
        self._committed: str | None = None
        self._committed_before: str | None = None
        self._transcribes = False
        self._speaking: str | None = None
        self._speech_start_ms = 0
        self._clock_ms = 0
        self._stopped: str | None = None
        self._utterances: dict[tuple[str, int], _Utterance] = {}
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "input_audio_buffer.speech_started": self._speech_started,
            "input_audio_buffer.speech_stopped": self._speech_stopped,
            "input_audio_buffer.timeout_triggered": self._timeout_triggered,
            "input_audio_buffer.committed": self._was_committed,
            "input_audio_buffer.cleared": self._cleared,
            "session.updated": self._session_updated,
            "conversation.item.added": self._added,
            "conversation.item.done": self._is_done,
            "conversation.item.deleted": self._deleted,
            "conversation.item.retrieved": self._retrieved,
            "conversation.item.truncated": self._truncated,
            f"{TRANSCRIPTION}.delta": self._transcription_delta,
            f"{TRANSCRIPTION}.completed": self._transcription_ended,
            f"{TRANSCRIPTION}.failed": self._transcription_ended,
        }

    def server(self, event: dict[str, Any]) -> None:
        """Take in an event of any type."""
        self._check_item_follows_commit(event)
        if handler := self._handlers.get(event["type"]):
            handler(event)

    def transcription_is(self, on: bool) -> None:
        """Whether utterances have to be shown as text from now on."""
        self._transcribes = on
        for utterance in self._utterances.values():
            if not utterance.ended:
                # It was switched in between: either way is right.
                utterance.must_end &= on
                utterance.may_end |= on

    @property
    def open_utterances(self) -> list[str]:
        """Ids of the items that have to get a transcript or a failure yet."""
        owed = (place for place, each in self._utterances.items() if each.must_end)
        return [item_id for item_id, part in owed if not self._utterances[item_id, part].ended]

    def finish(self) -> None:
        """Nothing may be left open."""
        if self._committed is not None:
            self._fail("ITEMS", f"{self._committed} was committed, but never added")
        if self._stopped is not None:
            self._fail("I8", f"{self._stopped} was stopped, but neither committed nor discarded")
        for item_id in self.open_utterances:
            self._fail("I8", f"{item_id} got neither a transcript nor a failure")
        for item_id in self.order:
            # A server that lists its tools, and a person who has to decide, take their time.
            if item_id not in self.done and item_id not in self._of_server:
                self._fail("ITEMS", f"{item_id} was added, but is never done")

    # --- speech ---------------------------------------------------------------------------

    def _speech_started(self, event: dict[str, Any]) -> None:
        if self._speaking is not None:
            self._fail("I7", f"speech started while {self._speaking} goes on")
        if self._stopped is not None:
            self._fail("I8", f"{self._stopped} was stopped, but neither committed nor discarded")
        if event["item_id"] in self.seen:
            self._fail("I7", f"item id {event['item_id']} was used before")
        if event["audio_start_ms"] < self._clock_ms:
            self._fail("I7", f"speech starts before {self._clock_ms} ms: the clock went back")
        self.seen.add(event["item_id"])
        self._speaking = event["item_id"]
        # Its words may be told while they are spoken.
        self._utterances[event["item_id"], 0] = _Utterance(False, self._transcribes, complete=False)
        self._speech_start_ms = self._clock_ms = event["audio_start_ms"]

    def _speech_stopped(self, event: dict[str, Any]) -> None:
        if self._speaking != event["item_id"]:
            self._fail("I7", f"{event['item_id']} stopped, but {self._speaking} was speaking")
        if event["audio_end_ms"] < self._speech_start_ms:
            self._fail("I7", "speech ended before it began")
        self._clock_ms = event["audio_end_ms"]
        self._stopped, self._speaking = self._speaking, None

    def _timeout_triggered(self, event: dict[str, Any]) -> None:
        if self._speaking is not None:
            self._fail("I7", "idle timeout while the user speaks")
        if not self._clock_ms <= event["audio_start_ms"] <= event["audio_end_ms"]:
            self._fail("I7", f"the clock went back from {self._clock_ms} ms")
        self._clock_ms = event["audio_end_ms"]
        self._stopped = event["item_id"]

    def _was_committed(self, event: dict[str, Any]) -> None:
        item_id = event["item_id"]
        if self._stopped is not None and self._stopped != item_id:
            self._fail("I8", f"{self._stopped} was stopped, but {item_id} is committed")
        if self._speaking is not None and self._speaking != item_id:
            self._fail("I7", f"{item_id} is committed while {self._speaking} speaks")
        if self._stopped is None:
            self._acknowledge("input_audio_buffer.commit")
        last = self.order[-1] if self.order else None
        if event.get("previous_item_id") != last:
            self._fail("ITEMS", f"previous_item_id of a commit must be the last item, {last}")
        self._stopped = self._speaking = None
        self.seen.add(item_id)
        self._committed, self._committed_before = item_id, last
        utterance = self._utterances.setdefault((item_id, 0), _Utterance(False, False))
        utterance.must_end = utterance.may_end = self._transcribes
        utterance.complete = True

    def _cleared(self, _event: dict[str, Any]) -> None:
        self._acknowledge("input_audio_buffer.clear")
        if self._speaking is not None:
            self._fail("I7", f"the buffer was cleared while {self._speaking} goes on")
        self._stopped = None

    def _session_updated(self, event: dict[str, Any]) -> None:
        if event["session"].get("audio", {}).get("input", {}).get("turn_detection") is None:
            if self._speaking is not None:
                self._fail("I7", f"detection is off while {self._speaking} goes on")
            self._stopped = None

    # --- items ----------------------------------------------------------------------------

    def _check_item_follows_commit(self, event: dict[str, Any]) -> None:
        added = event["type"] == "conversation.item.added"
        if self._committed is not None and not (added and event["item"]["id"] == self._committed):
            self._fail("ITEMS", f"{self._committed} was committed and must be added next")

    def _added(self, event: dict[str, Any]) -> None:
        item_id, previous = event["item"]["id"], event.get("previous_item_id")
        if item_id in self.order:
            self._fail("ITEMS", f"{item_id} was added twice")
        if previous is not None and previous not in self.order:
            self._fail("ITEMS", f"{item_id} was added after {previous}, which is not there")
        if item_id == self._committed:
            if previous != self._committed_before:
                self._fail("ITEMS", f"{item_id} was committed after another item")
            self._committed = None
        elif event["item"].get("type") in _OF_SERVER:
            self._of_server.add(item_id)
        elif item_id not in self.of_responses:
            self._by_client.add(item_id)
            self._expect_words(event["item"])
        self.seen.add(item_id)
        self.order.insert(0 if previous is None else self.order.index(previous) + 1, item_id)

    def _expect_words(self, item: dict[str, Any]) -> None:
        """What is said in an item that the client created may be transcribed, part by part."""
        for index, part in enumerate(item.get("content") or ()):
            if part["type"] == "input_audio" and part.get("transcript") is None:
                self._utterances[item["id"], index] = _Utterance(False, self._transcribes)

    def _is_done(self, event: dict[str, Any]) -> None:
        item_id = event["item"]["id"]
        if item_id not in self.order:
            self._fail("ITEMS", f"{item_id} is done, but it is not in the conversation")
        if item_id in self.done:
            self._fail("ITEMS", f"{item_id} is done twice")
        place = self.order.index(item_id)
        if event.get("previous_item_id") != (self.order[place - 1] if place else None):
            self._fail("ITEMS", f"previous_item_id of {item_id} is not its predecessor")
        self.done[item_id] = event["item"]
        if item_id in self._by_client:
            self._acknowledge("conversation.item.create")

    def _deleted(self, event: dict[str, Any]) -> None:
        self._acknowledge("conversation.item.delete")
        item_id = event["item_id"]
        if item_id not in self.order:
            self._fail("ITEMS", f"{item_id} was deleted, but it is not there")
        self.order.remove(item_id)
        self.done.pop(item_id, None)
        self._by_client.discard(item_id)
        self.of_responses.discard(item_id)

    def _retrieved(self, event: dict[str, Any]) -> None:
        self._acknowledge("conversation.item.retrieve")
        if event["item"]["id"] not in self.order:
            self._fail("ITEMS", f"{event['item']['id']} was retrieved, but it is not there")

    def _truncated(self, event: dict[str, Any]) -> None:
        self._acknowledge("conversation.item.truncate")
        if event["item_id"] not in self.order:
            self._fail("ITEMS", f"{event['item_id']} was truncated, but it is not there")

    # --- transcripts ----------------------------------------------------------------------

    def _utterance(self, event: dict[str, Any]) -> _Utterance:
        place = event["item_id"], event.get("content_index", 0)
        utterance = self._utterances.get(place)
        if utterance is None:
            if (event["item_id"], 0) in self._utterances:
                self._fail("I9", f"part {place[1]} of {event['item_id']} holds no voice")
            self._fail("I8", f"{event['item_id']} was never committed")
        if utterance.ended:
            self._fail("I9", f"the transcript of {event['item_id']} had ended already")
        if not utterance.may_end:
            self._fail("I8", "there must be no transcription events while transcription is off")
        return utterance

    def _transcription_delta(self, event: dict[str, Any]) -> None:
        self._utterance(event)

    def _transcription_ended(self, event: dict[str, Any]) -> None:
        utterance = self._utterance(event)
        if not utterance.complete:
            self._fail("I8", f"the transcript of {event['item_id']} ended before its commit")
        utterance.ended = True
