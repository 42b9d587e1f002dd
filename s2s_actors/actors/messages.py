"""Messages between actors.

Three kinds, and the difference is a promise about order and loss:

* *data* keeps its place behind whatever was sent before it; a full lane refuses it;
* a *marker* keeps its place too, but is never refused: life cycles depend on it;
* *control* may overtake data, is never refused, and is the only kind that may overtake.

Each message of a unit carries the lease of its session. Audio is 16-bit little-endian mono.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.actors.ports import SessionWish
from s2s_actors.runtime.mailbox import Control, Data, Marker
from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.ports import ClaimReply, ClientPort
    from s2s_actors.backends.base import Transcript, TtsRequest
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.errors import StageError
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.session import TurnDetection
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.reply import ReplyPort

# --- to the pool -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim(Control):
    """A client wants a unit. ``client`` receives all that the session says."""

    session_id: str
    client: ClientPort
    reply: ReplyPort[ClaimReply]
    wish: SessionWish = field(default_factory=SessionWish)


@dataclass(frozen=True, slots=True)
class CancelClaim(Control):
    """The client left before it got an answer to its claim."""

    session_id: str


@dataclass(frozen=True, slots=True)
class UnitIdle(Control):
    """A unit is proven clean, or has fresh stages: it can be claimed again."""

    unit: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class ServerReady(Control):
    """The models are loaded and warm: claims may be granted. Answered once they are."""

    reply: ReplyPort[None]


@dataclass(frozen=True, slots=True)
class Shutdown(Control):
    """Take no more sessions and let the running ones finish; ``force`` ends at once."""

    reply: ReplyPort[None]
    force: bool = False


# --- to a unit -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimUnit(Control):
    """The pool gives the unit to a session."""

    lease: Lease
    client: ClientPort
    reply: ReplyPort[ClaimReply]
    wish: SessionWish


@dataclass(frozen=True, slots=True)
class SessionStarted(Control):
    """The client has sent its first event."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class EndSession(Control):
    """The session is over, whoever ended it. Late and doubled ones are harmless.

    Attributes:
        lease: The session.
        reason: For the log, and for the client where there is a ``close_code``.
        close_code: Close the connection with it; None if the client has left already.
        error_code: Send an ``error`` event with it before the connection is closed.
    """

    lease: Lease
    reason: str
    close_code: int | None = None
    error_code: str | None = None


# --- through the pipeline --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bind(Marker):
    """Work for this lease from now on.

    Attributes:
        lease: The session.
        scope: Cancelled when the session ends; the token of each piece of work is its child.
    """

    lease: Lease
    scope: CancelToken


@dataclass(frozen=True, slots=True)
class OpenConversation(Bind):
    """Bind the conversation and greet the client."""

    client: ClientPort
    wish: SessionWish


@dataclass(frozen=True, slots=True)
class SessionEnd(Marker):
    """SESSION_END: travels through every stage, in order, as data."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class StagePassed(Control):
    """A stage has reset and passed SESSION_END on (bookkeeping for quarantine)."""

    lease: Lease
    stage: str


@dataclass(frozen=True, slots=True)
class StageReplaced(Control):
    """To the conversation: a stage crashed, and all that it was doing is lost."""

    lease: Lease
    stage: str


# --- conversation and connection --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClientFrame(Data):
    """One client event, decoded.

    ``cost_bytes`` is the size of the frame: what the lane's bound counts.
    """

    lease: Lease
    event: ClientEvent
    cost_bytes: int


# --- voice activity ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfigureVad(Marker):
    """Use these settings from the audio that follows; None switches detection off.

    A ``generation`` that differs from the last one means: forget the utterance, keep the clock.
    """

    lease: Lease
    turn_detection: TurnDetection | None
    generation: int


@dataclass(frozen=True, slots=True)
class AudioIn(Data):
    """A slice of the caller's voice at 24 kHz; ``at_sample`` is its place in the session."""

    lease: Lease
    pcm: bytes
    at_sample: int

    @property
    def cost_bytes(self) -> int:
        """Size for the lane's bound."""
        return len(self.pcm)


@dataclass(frozen=True, slots=True)
class AudioEnded(Marker):
    """No audio has come for a while: what is being said is over, where detection has come to."""

    lease: Lease
    generation: int


@dataclass(frozen=True, slots=True)
class AnswerPlayed(Marker):
    """Audio of the assistant at 24 kHz that the client plays from ``at_sample`` of the session.

    The user's microphone may hear it. Without audio: the client plays nothing from there on.
    """

    lease: Lease
    pcm: bytes
    at_sample: int


@dataclass(frozen=True, slots=True)
class SpeechStarted(Marker):
    """The user has begun to speak, ``at_ms`` after the session's first sample.

    ``heard_ms`` is how far voice detection has come, None for all that there is.
    """

    lease: Lease
    at_ms: int
    generation: int
    heard_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SpeechLasted(Marker):
    """The user speaks on: for ``for_ms`` by now, since the beginning or the last pause."""

    lease: Lease
    at_ms: int
    for_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechPaused(Marker):
    """Speech ended at ``quiet_ms``, and the user has been silent for a moment, up to ``at_ms``."""

    lease: Lease
    at_ms: int
    quiet_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechWeighed(Marker):
    """How finished what was said before the pause sounds, from 0 to 1; it took ``speech_ms``."""

    lease: Lease
    completeness: float
    speech_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechDismissed(Marker):
    """What was taken for speech was the assistant's own voice."""

    lease: Lease
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechQuiet(Marker):
    """The pause has lasted for ``for_ms`` by now; only where that is weighed."""

    lease: Lease
    at_ms: int
    for_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechResumed(Marker):
    """The user goes on after a pause, from ``at_ms``."""

    lease: Lease
    at_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechStopped(Marker):
    """The turn is over: speech ended at ``quiet_ms``, the silence that proves it at ``at_ms``."""

    lease: Lease
    at_ms: int
    quiet_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class Listened(Marker):
    """Voice detection has come so far: about once in a second of audio."""

    lease: Lease
    up_to_ms: int


SpeechMessage: TypeAlias = (
    SpeechStarted
    | SpeechLasted
    | SpeechPaused
    | SpeechWeighed
    | SpeechQuiet
    | SpeechDismissed
    | SpeechResumed
    | SpeechStopped
    | Listened
)
"""All that voice detection says."""


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


# --- timers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimerFired(Control):
    """A deadline that the receiver armed has come; stale ones are told apart by ``serial``."""

    lease: Lease | None
    name: str
    serial: int
