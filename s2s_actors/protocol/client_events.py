"""What a client may send: one struct an event, named as on the wire."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from s2s_actors.protocol.items import FunctionCall, FunctionCallOutput, Message
from s2s_actors.protocol.mcp_items import McpApprovalResponse
from s2s_actors.protocol.response import ResponseParams

EventId: TypeAlias = Annotated[str, Meta(max_length=512)]


class _ClientEvent(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """An event from the client; ``event_id`` is echoed in errors."""

    event_id: EventId | None = None


class SessionUpdate(_ClientEvent, frozen=True, kw_only=True, tag="session.update"):
    """Change settings; ``session`` is a partial session, merged by ``protocol.merge``."""

    session: dict[str, Any]


class AudioAppend(_ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.append"):
    """More of the user's voice, in base64."""

    audio: str


class AudioCommit(_ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.commit"):
    """Make the buffered audio an item."""


class AudioClear(_ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.clear"):
    """Forget the buffered audio."""


class ItemCreate(_ClientEvent, frozen=True, kw_only=True, tag="conversation.item.create"):
    """Add an item; ``previous_item_id`` says where: omitted at the end, ``root`` in front."""

    item: Message | FunctionCall | FunctionCallOutput | McpApprovalResponse
    previous_item_id: str | None = None


class ItemDelete(_ClientEvent, frozen=True, kw_only=True, tag="conversation.item.delete"):
    """Remove an item."""

    item_id: str


class ItemRetrieve(_ClientEvent, frozen=True, kw_only=True, tag="conversation.item.retrieve"):
    """Show an item whole, with its audio."""

    item_id: str


class ItemTruncate(_ClientEvent, frozen=True, kw_only=True, tag="conversation.item.truncate"):
    """Cut what the user has not heard off an assistant message."""

    item_id: str
    content_index: Annotated[int, Meta(ge=0)]
    audio_end_ms: Annotated[int, Meta(ge=0)]


class ResponseCreate(_ClientEvent, frozen=True, kw_only=True, tag="response.create"):
    """Ask for a response."""

    response: ResponseParams | None = None


class ResponseCancel(_ClientEvent, frozen=True, kw_only=True, tag="response.cancel"):
    """Stop a response, by default that of the conversation."""

    response_id: str | UnsetType | None = UNSET


class OutputAudioClear(_ClientEvent, frozen=True, kw_only=True, tag="output_audio_buffer.clear"):
    """Known from other transports; a plain websocket has no output buffer."""


ClientEvent: TypeAlias = (
    SessionUpdate
    | AudioAppend
    | AudioCommit
    | AudioClear
    | ItemCreate
    | ItemDelete
    | ItemRetrieve
    | ItemTruncate
    | ResponseCreate
    | ResponseCancel
    | OutputAudioClear
)
