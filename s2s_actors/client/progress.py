"""Decides when a conversation is over. Pure: it is told of events and of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from s2s_actors.client.record import Event

__all__ = ["Progress"]

_NOTICE_MS: Final = 1500.0
"""How long a server may take to notice speech at all, before the rest counts as noise."""

_LATE_TRANSCRIPT_MS: Final = 3000.0
"""How long to wait for a transcript after the last answer is done."""

_LAST_EVENTS_MS: Final = 100.0
"""How long to listen for what a server sends behind ``response.done``."""

_TRANSCRIBED: Final = (
    "conversation.item.input_audio_transcription.completed",
    "conversation.item.input_audio_transcription.failed",
)


class Progress:
    """Tells how long to go on listening.

    A conversation is over when all that was said has been heard and answered, the answers
    are done and the transcripts are there; or when for ``timeout_ms`` nothing happened.

    Args:
        last_speech_end_ms: When the user's speech ends, by its energy.
        timeout_ms: Longest silence of the server after that.
    """

    def __init__(self, last_speech_end_ms: float, timeout_ms: float) -> None:
        self._speech_end_ms = last_speech_end_ms
        self._timeout_ms = timeout_ms
        self._speaking = False
        self._stopped_ms: float | None = None
        self._unanswered: set[str] = set()
        self._untranscribed: set[str] = set()
        self._active: set[str] = set()
        self._done_ms: float | None = None  # the last answer, or the last "no answer"
        self._activity_ms = last_speech_end_ms

    def add(self, event: Event) -> None:
        """Take note of an event."""
        self._activity_ms = max(self._activity_ms, event.at_ms)
        item_id = event.text("item_id")
        match event.type:
            case "input_audio_buffer.speech_started":
                self._speaking = True
            case "input_audio_buffer.speech_stopped":
                self._speaking = False
                self._stopped_ms = event.at_ms
                self._expect_answer(item_id)
            case "input_audio_buffer.committed":
                self._expect_answer(item_id)
            case kind if kind in _TRANSCRIBED:
                self._untranscribed.discard(item_id)
                if not event.text("transcript").strip() and item_id in self._unanswered:
                    # No words, so most likely no answer; one that comes in time still counts.
                    self._unanswered.discard(item_id)
                    self._done_ms = event.at_ms + _NOTICE_MS
            case "response.created":
                self._unanswered.clear()
                self._active.add(event.text("response", "id"))
            case "response.done":
                self._active.discard(event.text("response", "id"))
                self._done_ms = event.at_ms
            case _:
                pass

    def _expect_answer(self, item_id: str) -> None:
        self._unanswered.add(item_id)
        self._untranscribed.add(item_id)

    def timed_out(self, now_ms: float) -> bool:
        """Whether the server has been silent for too long."""
        return now_ms >= self._activity_ms + self._timeout_ms

    def wait_ms(self, now_ms: float) -> float:
        """How long to wait for the next event before asking again; 0 when it is over."""
        give_up_ms = self._activity_ms + self._timeout_ms
        over_ms = self._over_ms()
        until_ms = give_up_ms if over_ms is None else min(give_up_ms, over_ms)
        return max(0.0, until_ms - now_ms)

    def _over_ms(self) -> float | None:
        """When it is over if nothing more happens, None while something is pending."""
        if self._done_ms is None or self._speaking or self._unanswered or self._active:
            return None
        over_ms = self._done_ms + _LAST_EVENTS_MS
        if self._stopped_ms is None or self._stopped_ms < self._speech_end_ms:
            over_ms = max(over_ms, self._speech_end_ms + _NOTICE_MS)
        if self._untranscribed:
            over_ms = max(over_ms, self._done_ms + _LATE_TRANSCRIPT_MS)
        return over_ms
