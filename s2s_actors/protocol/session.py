"""The effective session: every setting with its default and its range.

Field names, defaults and ranges are those of the OpenAI Realtime API (GA).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from s2s_actors.protocol.mcp_tools import McpChoice, McpTool


class _Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of a session."""


class _Typed(_Settings, frozen=True, kw_only=True, tag_field="type"):
    """Part of a session that comes in several types."""


class PcmFormat(_Typed, frozen=True, kw_only=True, tag="audio/pcm"):
    """16-bit little-endian mono."""

    rate: Literal[24000] = 24000


class PcmuFormat(_Typed, frozen=True, kw_only=True, tag="audio/pcmu"):
    """G.711 mu-law, 8 kHz mono."""


class PcmaFormat(_Typed, frozen=True, kw_only=True, tag="audio/pcma"):
    """G.711 A-law, 8 kHz mono."""


AudioFormat: TypeAlias = PcmFormat | PcmuFormat | PcmaFormat


class ServerVad(_Typed, frozen=True, kw_only=True, tag="server_vad"):
    """Turns end after a silence of set length."""

    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.5
    prefix_padding_ms: Annotated[int, Meta(ge=0, le=5000)] = 300
    silence_duration_ms: Annotated[int, Meta(ge=0, le=10_000)] = 500
    idle_timeout_ms: Annotated[int, Meta(ge=5000, le=30_000)] | None = None
    create_response: bool = True
    interrupt_response: bool = True


class SemanticVad(_Typed, frozen=True, kw_only=True, tag="semantic_vad"):
    """Turns end by how the speech sounds and by its words; eagerness says how soon."""

    eagerness: Literal["low", "medium", "high", "auto"] = "auto"
    model_version: str | UnsetType = UNSET
    create_response: bool = True
    interrupt_response: bool = True


TurnDetection: TypeAlias = ServerVad | SemanticVad


class Transcription(_Settings, frozen=True, kw_only=True):
    """How the user's speech is shown as text."""

    model: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    delay: Literal["minimal", "low", "medium", "high", "xhigh"] | UnsetType = UNSET
    keywords: list[str] | UnsetType = UNSET
    languages: list[str] | UnsetType = UNSET


class NoiseReduction(_Settings, frozen=True, kw_only=True):
    """What kind of microphone to clean up after; the strength is the server's choice."""

    type: Literal["near_field", "far_field"]
    strength: float | UnsetType = UNSET


class AudioInput(_Settings, frozen=True, kw_only=True):
    """How the user's audio is taken in."""

    format: AudioFormat = PcmFormat()
    transcription: Transcription | None = None
    noise_reduction: NoiseReduction | None = None
    turn_detection: TurnDetection | None = ServerVad()


class VoiceId(_Settings, frozen=True, kw_only=True):
    """A voice named by an object; it is echoed as a plain string."""

    id: str


class AudioOutput(_Settings, frozen=True, kw_only=True):
    """How the assistant sounds."""

    format: AudioFormat = PcmFormat()
    voice: str | VoiceId = "alloy"
    speed: Annotated[float, Meta(ge=0.25, le=1.5)] = 1.0


class SessionAudio(_Settings, frozen=True, kw_only=True):
    """Both directions of audio."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class FunctionTool(Struct, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """A function that the model may call; clients send extra keys here, which is fine."""

    name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")]
    description: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET
    strict: bool | UnsetType | None = UNSET


class FunctionChoice(_Typed, frozen=True, kw_only=True, tag="function"):
    """The model must call this function."""

    name: str


class TokenLimits(_Settings, frozen=True, kw_only=True):
    """Bounds of the context, in tokens."""

    post_instructions: Annotated[int, Meta(ge=0)] | UnsetType = UNSET


class RetentionRatio(_Typed, frozen=True, kw_only=True, tag="retention_ratio"):
    """How much of the context stays when it has to be cut."""

    retention_ratio: Annotated[float, Meta(ge=0, le=1)]
    token_limits: TokenLimits | UnsetType = UNSET


Truncation: TypeAlias = Literal["auto", "disabled"] | RetentionRatio


class Tracing(_Settings, frozen=True, kw_only=True):
    """Labels for a trace; echoed, never sent anywhere."""

    workflow_name: str | UnsetType = UNSET
    group_id: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class Reasoning(_Settings, frozen=True, kw_only=True):
    """How much the model may think; accepted and echoed."""

    effort: Literal["minimal", "low", "medium", "high", "xhigh"] | UnsetType = UNSET


class PromptText(_Typed, frozen=True, kw_only=True, tag="input_text"):
    """A text for a stored prompt."""

    text: str


class PromptImage(_Typed, frozen=True, kw_only=True, tag="input_image"):
    """A picture for a stored prompt."""

    detail: Literal["low", "high", "auto", "original"] = "auto"
    file_id: str | UnsetType | None = UNSET
    image_url: str | UnsetType | None = UNSET


class PromptFile(_Typed, frozen=True, kw_only=True, tag="input_file"):
    """A file for a stored prompt."""

    detail: Literal["auto", "low", "high"] | UnsetType | None = UNSET
    file_id: str | UnsetType | None = UNSET
    file_url: str | UnsetType | None = UNSET
    file_data: str | UnsetType | None = UNSET
    filename: str | UnsetType | None = UNSET


PromptVariable: TypeAlias = str | PromptText | PromptImage | PromptFile
"""What may stand for a variable of a stored prompt."""


class PromptReference(_Settings, frozen=True, kw_only=True):
    """A stored prompt; accepted and echoed. A variable is a text, or a part as messages have."""

    id: str
    version: str | UnsetType | None = UNSET
    variables: dict[str, PromptVariable] | UnsetType | None = UNSET


Modalities: TypeAlias = Annotated[list[Literal["audio", "text"]], Meta(min_length=1, max_length=1)]
MaxTokens: TypeAlias = Annotated[int, Meta(ge=1, le=4096)] | Literal["inf"]
Tool: TypeAlias = FunctionTool | McpTool
ToolChoice: TypeAlias = Literal["auto", "none", "required"] | FunctionChoice | McpChoice
Include: TypeAlias = list[Literal["item.input_audio_transcription.logprobs", "turn.waterfall"]]
"""What is sent only to those who ask for it; ``turn.waterfall`` is this server's own."""
TranscriptionInclude: TypeAlias = list[Literal["item.input_audio_transcription.logprobs"]]
"""Without answers nobody waits for one."""


class TranscriptionAudio(_Settings, frozen=True, kw_only=True):
    """A session that only transcribes hears and does not speak."""

    input: AudioInput = AudioInput()


class TranscriptionSession(_Typed, frozen=True, kw_only=True, tag="transcription"):
    """What ``session.created`` and ``session.updated`` show of a session that only transcribes.

    Its turn detection may carry ``create_response``; there are no responses all the same.
    """

    object: Literal["realtime.transcription_session"] = "realtime.transcription_session"
    id: str
    expires_at: int
    audio: TranscriptionAudio = TranscriptionAudio()
    include: TranscriptionInclude | None = None


class RealtimeSession(_Typed, frozen=True, kw_only=True, tag="realtime"):
    """Everything that ``session.created`` and ``session.updated`` show."""

    object: Literal["realtime.session"] = "realtime.session"
    id: str
    model: str
    output_modalities: Modalities = field(default_factory=lambda: ["audio"])
    instructions: str
    tools: list[Tool] = []
    tool_choice: ToolChoice = "auto"
    max_output_tokens: MaxTokens = "inf"
    parallel_tool_calls: bool | UnsetType = UNSET
    reasoning: Reasoning | UnsetType = UNSET
    tracing: Literal["auto"] | Tracing | None = None
    truncation: Truncation = "auto"
    prompt: PromptReference | None = None
    expires_at: int
    audio: SessionAudio = SessionAudio()
    include: Include | None = None


Session: TypeAlias = RealtimeSession | TranscriptionSession
