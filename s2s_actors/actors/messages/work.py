"""Work for the models and for MCP servers, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.runtime.mailbox import Data, Marker
from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import Transcript, TtsRequest
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.errors import StageError
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.runtime.cancel import CancelToken


# --- speech to text ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transcribe(Data):
    """Transcribe something that was said: PCM at 24 kHz; ``voice_id`` names it.

    With ``logprobs`` it may take longer, and tells how sure the model is of each word.
    ``beginning``: it is the first moment of something that goes on.
    """

    lease: Lease
    voice_id: str
    pcm: bytes
    language: str | None
    prompt: str | None
    cancel: CancelToken
    logprobs: bool = False
    beginning: bool = False
    urgency: Urgency = field(default_factory=Urgency)

    @property
    def cost_bytes(self) -> int:
        """Size for the lane's bound."""
        return len(self.pcm)


@dataclass(frozen=True, slots=True)
class Transcribed(Marker):
    """What was said."""

    lease: Lease
    voice_id: str
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class TranscriptionFailed(Marker):
    """It could not be transcribed."""

    lease: Lease
    voice_id: str
    error: StageError


# --- language model ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generate(Data):
    """Write the answer of one response, or of a draft."""

    lease: Lease
    response_id: str
    request: LlmRequest
    cancel: CancelToken
    urgency: Urgency = field(default_factory=Urgency)


@dataclass(frozen=True, slots=True)
class Generated(Marker):
    """The next event of a generation."""

    lease: Lease
    response_id: str
    event: LlmEvent


@dataclass(frozen=True, slots=True)
class ResponseFailed(Marker):
    """The language model or the voice failed in the middle of a response."""

    lease: Lease
    response_id: str
    error: StageError


# --- text to speech ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Speak(Data):
    """Speak one piece of a response; ``segment`` counts the pieces."""

    lease: Lease
    response_id: str
    segment: int
    request: TtsRequest
    cancel: CancelToken
    urgency: Urgency = field(default_factory=Urgency)


@dataclass(frozen=True, slots=True)
class Spoken(Marker):
    """The next audio of a segment, at 24 kHz; ``last`` ends the segment."""

    lease: Lease
    response_id: str
    segment: int
    pcm: bytes
    last: bool


# --- MCP servers ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class McpListed(Marker):
    """An MCP server has told its tools, or has failed to."""

    lease: Lease
    item_id: str
    found: tuple[McpToolInfo, ...] | McpError


@dataclass(frozen=True, slots=True)
class McpCalled(Marker):
    """A call of an MCP tool has its output, or its error."""

    lease: Lease
    item_id: str
    result: str | McpError
