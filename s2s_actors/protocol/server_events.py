"""What the server sends: one struct an event, named as on the wire.

Fields that are UNSET are left out; null is sent only where the protocol has it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from s2s_actors.errors import ClientError
from s2s_actors.protocol.ids import event_id
from s2s_actors.protocol.items import Item
from s2s_actors.protocol.mcp_events import McpEvent
from s2s_actors.protocol.response import ErrorDetail, Response
from s2s_actors.protocol.session import Session
from s2s_actors.protocol.waterfall import Waterfall, WaterfallStep, WorkTimes


class _Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """An event to the client."""

    event_id: str = field(default_factory=event_id)


class SessionCreated(_Event, frozen=True, kw_only=True, tag="session.created"):
    """First event of every session."""

    session: Session


class QueuePosition(_Event, frozen=True, kw_only=True, tag="queue.position"):
    """Where a client stands that waits for a unit, counted from 1.

    Sent only to those who connect with `queue_events=1`, before `session.created`: when they
    begin to wait, and when somebody before them has left the line. The estimate is null as long
    as no session has ended.
    """

    position: int
    estimated_wait_s: float | None


class SessionUpdated(_Event, frozen=True, kw_only=True, tag="session.updated"):
    """The whole session after an update."""

    session: Session


class SpeechStarted(_Event, frozen=True, kw_only=True, tag="input_audio_buffer.speech_started"):
    """Speech begins; the offset includes the prefix padding."""

    audio_start_ms: int
    item_id: str


class SpeechStopped(_Event, frozen=True, kw_only=True, tag="input_audio_buffer.speech_stopped"):
    """The turn is over."""

    audio_end_ms: int
    item_id: str


class AudioCommitted(_Event, frozen=True, kw_only=True, tag="input_audio_buffer.committed"):
    """Buffered audio has become an item."""

    item_id: str
    previous_item_id: str | None


class AudioCleared(_Event, frozen=True, kw_only=True, tag="input_audio_buffer.cleared"):
    """Buffered audio is forgotten."""


class TimeoutTriggered(
    _Event, frozen=True, kw_only=True, tag="input_audio_buffer.timeout_triggered"
):
    """The user has said nothing for the idle timeout."""

    audio_start_ms: int
    audio_end_ms: int
    item_id: str


class ItemAdded(_Event, frozen=True, kw_only=True, tag="conversation.item.added"):
    """An item has entered the conversation."""

    item: Item
    previous_item_id: str | None


class ItemDone(_Event, frozen=True, kw_only=True, tag="conversation.item.done"):
    """An item is final."""

    item: Item
    previous_item_id: str | None


class ItemDeleted(_Event, frozen=True, kw_only=True, tag="conversation.item.deleted"):
    """An item is gone."""

    item_id: str


class ItemRetrieved(_Event, frozen=True, kw_only=True, tag="conversation.item.retrieved"):
    """An item whole, with its audio."""

    item: Item


class ItemTruncated(_Event, frozen=True, kw_only=True, tag="conversation.item.truncated"):
    """What was not heard is cut off."""

    item_id: str
    content_index: int
    audio_end_ms: int


class DurationUsage(Struct, frozen=True, kw_only=True):
    """Speech recognition is counted in seconds of audio."""

    seconds: float
    type: Literal["duration"] = "duration"


class LogProb(Struct, frozen=True, kw_only=True):
    """How likely a piece of a transcript is, as the natural logarithm of its probability."""

    token: str
    logprob: float
    bytes: tuple[int, ...]

    @classmethod
    def of(cls, token: str, logprob: float) -> LogProb:
        """With the UTF-8 bytes of the token."""
        return cls(token=token, logprob=logprob, bytes=tuple(token.encode()))


class TranscriptionDelta(
    _Event, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.delta"
):
    """More of what was heard; never taken back."""

    item_id: str
    content_index: int
    delta: str
    logprobs: tuple[LogProb, ...] | UnsetType = UNSET


class TranscriptionCompleted(
    _Event, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.completed"
):
    """All that was heard."""

    item_id: str
    content_index: int
    transcript: str
    usage: DurationUsage
    logprobs: tuple[LogProb, ...] | UnsetType = UNSET


class TranscriptionFailed(
    _Event, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.failed"
):
    """The utterance could not be transcribed."""

    item_id: str
    content_index: int
    error: ErrorDetail


class ResponseCreated(_Event, frozen=True, kw_only=True, tag="response.created"):
    """First event of a response."""

    response: Response


class ResponseDone(_Event, frozen=True, kw_only=True, tag="response.done"):
    """Last event of a response."""

    response: Response


class OutputItemAdded(_Event, frozen=True, kw_only=True, tag="response.output_item.added"):
    """A new item of a response."""

    response_id: str
    output_index: int
    item: Item


class OutputItemDone(_Event, frozen=True, kw_only=True, tag="response.output_item.done"):
    """An item of a response is final."""

    response_id: str
    output_index: int
    item: Item


class TextPart(Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A content part that is written."""

    text: str


class AudioPart(Struct, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A content part that is spoken."""

    transcript: str


class _InItem(_Event, frozen=True, kw_only=True):
    """An event about one item of a response."""

    response_id: str
    item_id: str
    output_index: int


class _InPart(_InItem, frozen=True, kw_only=True):
    """An event about one content part of an item of a response."""

    content_index: int


class PartAdded(_InPart, frozen=True, kw_only=True, tag="response.content_part.added"):
    """A new content part."""

    part: TextPart | AudioPart


class PartDone(_InPart, frozen=True, kw_only=True, tag="response.content_part.done"):
    """A content part is final."""

    part: TextPart | AudioPart


class TextDelta(_InPart, frozen=True, kw_only=True, tag="response.output_text.delta"):
    """More text."""

    delta: str


class TextDone(_InPart, frozen=True, kw_only=True, tag="response.output_text.done"):
    """All of the text."""

    text: str


class TranscriptDelta(
    _InPart, frozen=True, kw_only=True, tag="response.output_audio_transcript.delta"
):
    """More of the words that are spoken."""

    delta: str


class TranscriptDone(
    _InPart, frozen=True, kw_only=True, tag="response.output_audio_transcript.done"
):
    """All of the words that are spoken."""

    transcript: str


class AudioDelta(_InPart, frozen=True, kw_only=True, tag="response.output_audio.delta"):
    """More speech, in base64."""

    delta: str


class AudioDone(_InPart, frozen=True, kw_only=True, tag="response.output_audio.done"):
    """The speech is complete."""


class ArgumentsDelta(
    _InItem, frozen=True, kw_only=True, tag="response.function_call_arguments.delta"
):
    """More of a call's arguments."""

    call_id: str
    delta: str


class ArgumentsDone(
    _InItem, frozen=True, kw_only=True, tag="response.function_call_arguments.done"
):
    """All of a call's arguments."""

    call_id: str
    name: str
    arguments: str


class RateLimit(Struct, frozen=True, kw_only=True):
    """One limit; this server sets none, so the list stays empty."""

    name: Literal["requests", "tokens"]
    limit: int
    remaining: int
    reset_seconds: float


class RateLimitsUpdated(_Event, frozen=True, kw_only=True, tag="rate_limits.updated"):
    """Sent once per response, after ``response.done``."""

    rate_limits: tuple[RateLimit, ...] = ()


class TurnWaterfall(_Event, frozen=True, kw_only=True, tag="turn.waterfall"):
    """Where the time between the end of a turn's speech and the answer's first sound went.

    Sent only to sessions that include it, once a turn: when its answer begins, or when it is
    certain that there is none. The steps add up to ``total_ms``.
    """

    item_id: str
    response_id: str | UnsetType = UNSET
    answered: bool
    steps: tuple[WaterfallStep, ...]
    total_ms: int
    reason: str
    work: WorkTimes

    @classmethod
    def of(
        cls, waterfall: Waterfall, *, item_id: str, response_id: str | UnsetType = UNSET
    ) -> TurnWaterfall:
        """Tell a waterfall of the turn with this item."""
        return cls(
            item_id=item_id,
            response_id=response_id,
            answered=waterfall.answered,
            steps=waterfall.steps,
            total_ms=waterfall.total_ms,
            reason=waterfall.reason,
            work=waterfall.work,
        )


class ErrorBody(Struct, frozen=True, kw_only=True):
    """What went wrong; ``event_id`` is that of the client event at fault."""

    type: str
    code: str | None
    message: str
    param: str | None
    event_id: str | None


class Error(_Event, frozen=True, kw_only=True, tag="error"):
    """A problem; the session goes on unless the connection is closed next."""

    error: ErrorBody


ServerEvent: TypeAlias = (
    SessionCreated
    | QueuePosition
    | SessionUpdated
    | SpeechStarted
    | SpeechStopped
    | AudioCommitted
    | AudioCleared
    | TimeoutTriggered
    | ItemAdded
    | ItemDone
    | ItemDeleted
    | ItemRetrieved
    | ItemTruncated
    | TranscriptionDelta
    | TranscriptionCompleted
    | TranscriptionFailed
    | ResponseCreated
    | ResponseDone
    | OutputItemAdded
    | OutputItemDone
    | PartAdded
    | PartDone
    | TextDelta
    | TextDone
    | TranscriptDelta
    | TranscriptDone
    | AudioDelta
    | AudioDone
    | ArgumentsDelta
    | ArgumentsDone
    | RateLimitsUpdated
    | TurnWaterfall
    | Error
    | McpEvent
)


def client_error(error: ClientError) -> Error:
    """The answer to a client event that was not acceptable."""
    return Error(
        error=ErrorBody(
            type="invalid_request_error",
            code=error.code,
            message=error.message,
            param=error.param,
            event_id=error.event_id,
        )
    )


def server_error(code: str, message: str) -> Error:
    """Something that is not the client's fault."""
    return Error(
        error=ErrorBody(type="server_error", code=code, message=message, param=None, event_id=None)
    )
