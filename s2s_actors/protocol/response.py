"""One response: what a client may ask for, and the resource that it gets to see."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from s2s_actors.errors import ClientError
from s2s_actors.protocol.items import FunctionCall, FunctionCallOutput, Item, ItemReference, Message
from s2s_actors.protocol.session import (
    AudioFormat,
    MaxTokens,
    Modalities,
    PromptReference,
    Reasoning,
    Tool,
    ToolChoice,
    VoiceId,
)

Reason: TypeAlias = Literal[
    "turn_detected", "client_cancelled", "max_output_tokens", "content_filter"
]
MAX_METADATA_PAIRS = 16
MAX_METADATA_KEY_CHARS = 64
MAX_METADATA_VALUE_CHARS = 512


class _Params(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of what a client may ask for."""


class ResponseAudioOutput(_Params, frozen=True, kw_only=True):
    """How this one response sounds."""

    format: AudioFormat | UnsetType = UNSET
    voice: str | VoiceId | UnsetType = UNSET
    speed: Annotated[float, Meta(ge=0.25, le=1.5)] | UnsetType = UNSET


class ResponseAudio(_Params, frozen=True, kw_only=True):
    """Audio settings of one response."""

    output: ResponseAudioOutput = ResponseAudioOutput()


ResponseInput: TypeAlias = Message | FunctionCall | FunctionCallOutput | ItemReference


class ResponseParams(_Params, frozen=True, kw_only=True):
    """The ``response`` of a ``response.create``: overrides that last one response."""

    conversation: Literal["auto", "none"] = "auto"
    instructions: str | UnsetType | None = UNSET
    output_modalities: Modalities | UnsetType = UNSET
    audio: ResponseAudio = ResponseAudio()
    tools: list[Tool] | UnsetType = UNSET
    tool_choice: ToolChoice | UnsetType = UNSET
    max_output_tokens: MaxTokens | UnsetType = UNSET
    metadata: dict[str, str] | None = None
    input: list[ResponseInput] | UnsetType = UNSET
    parallel_tool_calls: bool | UnsetType = UNSET
    reasoning: Reasoning | UnsetType = UNSET
    prompt: PromptReference | UnsetType | None = UNSET


class InputTokenDetails(Struct, frozen=True, kw_only=True):
    """What the language model read. A cascade reads text, whatever the user sent."""

    text_tokens: int = 0
    audio_tokens: int = 0
    image_tokens: int = 0
    cached_tokens: int = 0


class OutputTokenDetails(Struct, frozen=True, kw_only=True):
    """What was written and spoken: one audio token for 50 ms of speech."""

    text_tokens: int = 0
    audio_tokens: int = 0


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one response; the totals are the sums of the details."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    input_token_details: InputTokenDetails
    output_token_details: OutputTokenDetails

    @classmethod
    def of(cls, *, read: int, written: int, spoken_ms: int) -> Usage:
        """Usage from what a response cost: tokens read and written, milliseconds spoken."""
        audio_tokens = -(-spoken_ms // 50)
        output = OutputTokenDetails(text_tokens=written, audio_tokens=audio_tokens)
        return cls(
            total_tokens=read + written + audio_tokens,
            input_tokens=read,
            output_tokens=written + audio_tokens,
            input_token_details=InputTokenDetails(text_tokens=read),
            output_token_details=output,
        )


class ErrorDetail(Struct, frozen=True, kw_only=True):
    """Why a response failed."""

    type: str
    code: str
    message: str | UnsetType = UNSET


class StatusDetails(Struct, frozen=True, kw_only=True):
    """How a response ended, if not simply completed."""

    type: Literal["cancelled", "incomplete", "failed"]
    reason: Reason | UnsetType = UNSET
    error: ErrorDetail | UnsetType = UNSET


class ShownOutput(Struct, frozen=True, kw_only=True):
    """How a response sounds; the voice is a string because stock clients drop objects."""

    format: AudioFormat
    voice: str


class ShownAudio(Struct, frozen=True, kw_only=True):
    """Audio settings as a response shows them."""

    output: ShownOutput


class Response(Struct, frozen=True, kw_only=True):
    """The resource in ``response.created`` and ``response.done``."""

    object: Literal["realtime.response"] = "realtime.response"
    id: str
    status: Literal["in_progress", "completed", "cancelled", "failed", "incomplete"]
    status_details: StatusDetails | None = None
    output: tuple[Item, ...] = ()
    conversation_id: str | None = None
    output_modalities: list[Literal["audio", "text"]]
    max_output_tokens: MaxTokens
    audio: ShownAudio
    usage: Usage | None = None
    metadata: dict[str, str] | None = None


def check_metadata(metadata: dict[str, Any] | None, *, param: str) -> None:
    """Hold metadata to the documented limits.

    Raises:
        ClientError: Too many pairs, or a key or value that is too long.
    """
    pairs = metadata or {}
    if len(pairs) > MAX_METADATA_PAIRS:
        raise ClientError(
            "invalid_value",
            f"Invalid '{param}': at most {MAX_METADATA_PAIRS} pairs are allowed.",
            param=param,
        )
    for key, value in pairs.items():
        if len(key) > MAX_METADATA_KEY_CHARS or len(value) > MAX_METADATA_VALUE_CHARS:
            raise ClientError(
                "string_above_max_length",
                f"Invalid '{param}.{key[:MAX_METADATA_KEY_CHARS]}': keys have at most "
                f"{MAX_METADATA_KEY_CHARS} characters, values {MAX_METADATA_VALUE_CHARS}.",
                param=param,
            )
