"""What a dialogue asks its owner to do, besides nothing: the whole list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import Any, Literal

    from s2s_actors.protocol.items import Item
    from s2s_actors.protocol.mcp_tools import McpTool
    from s2s_actors.protocol.server_events import ServerEvent
    from s2s_actors.protocol.session import FunctionChoice, FunctionTool, TurnDetection
    from s2s_actors.protocol.waterfall import Waterfall
    from statecharts.response import Status

    OfferedChoice: TypeAlias = Literal["auto", "none", "required"] | FunctionChoice


@dataclass(frozen=True, slots=True)
class Send:
    """Send an event to the client."""

    event: ServerEvent


@dataclass(frozen=True, slots=True)
class ConfigureVad:
    """Detect speech with these settings from now on; None switches detection off.

    ``generation`` marks what voice detection says from then on; anything older is stale.
    """

    turn_detection: TurnDetection | None
    generation: int


@dataclass(frozen=True, slots=True)
class EndAudio:
    """No audio comes any more: what voice detection hears as speech is over where it is."""

    generation: int


@dataclass(frozen=True, slots=True)
class ExpectEcho:
    """The client plays this audio from a position of the session's clock, in samples.

    Without audio: it plays nothing from there on.
    """

    pcm: bytes
    at_sample: int


@dataclass(frozen=True, slots=True)
class StartTranscription:
    """Transcribe something that was said: PCM in the wire's format.

    ``voice_id`` names it in what comes back: the id of its item for a whole turn, an id of
    its own for anything else. ``logprobs``: the client wants to know how sure the model is of
    each word. ``beginning``: it is the first moment of something that goes on. ``speculative``:
    it is a guess until :class:`CommitWork`. ``glance``: it is not even that, but a look at what
    is still being said.
    """

    voice_id: str
    pcm: bytes
    language: str | None
    prompt: str | None
    logprobs: bool = False
    beginning: bool = False
    speculative: bool = False
    glance: bool = False


@dataclass(frozen=True, slots=True)
class StartGeneration:
    """Let the language model answer.

    ``response_id`` names the work in what comes back: that of the response, or of a draft.
    ``may_cut`` is False if the model must not leave out the oldest of the items either.
    ``speculative``: it is a guess until :class:`CommitWork`.
    """

    response_id: str
    items: tuple[Item, ...]
    instructions: str
    tools: tuple[FunctionTool, ...]
    tool_choice: OfferedChoice
    max_output_tokens: int | None
    may_cut: bool = True
    speculative: bool = False


@dataclass(frozen=True, slots=True)
class StartSpeech:
    """Speak a piece of a response or a draft, as urgently as it is written."""

    response_id: str
    segment: int
    text: str
    voice: str
    speed: float


@dataclass(frozen=True, slots=True)
class StartMcpListing:
    """Ask a server for its tools; ``item_id`` names the question."""

    item_id: str
    server: McpTool


@dataclass(frozen=True, slots=True)
class StartMcpCall:
    """Call a tool of a server; ``item_id`` names the call.

    It ends with the response, or with the session if it belongs to none.
    """

    item_id: str
    response_id: str | None
    server: McpTool
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StopMcp:
    """Nobody waits for this any more."""

    item_id: str


@dataclass(frozen=True, slots=True)
class StopWork:
    """Nothing more is wanted for this response, draft or voice."""

    work_id: str


@dataclass(frozen=True, slots=True)
class HaveEnoughText:
    """The voice has enough to say of an answer for now, or has not any more."""

    work_id: str
    enough: bool


@dataclass(frozen=True, slots=True)
class CommitWork:
    """A guess was right: this draft or voice is wanted from now on."""

    work_id: str


@dataclass(frozen=True, slots=True)
class ArmTimer:
    """Call back later; arming again moves the timer."""

    name: str
    delay_ms: int


@dataclass(frozen=True, slots=True)
class DisarmTimer:
    """Do not call back."""

    name: str


@dataclass(frozen=True, slots=True)
class Count:
    """Add to the totals of the server; tokens of drafts that nobody saw apart from the rest.

    ``status`` is how the response that is counted has ended.
    """

    responses: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    audio_input_ms: int = 0
    audio_output_ms: int = 0
    speculative_input_tokens: int = 0
    speculative_output_tokens: int = 0
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class TurnMeasured:
    """How long the user waited for an answer, and for what."""

    waterfall: Waterfall


@dataclass(frozen=True, slots=True)
class HangUp:
    """End the session from this side."""

    close_code: int
    reason: str


Output: TypeAlias = (
    Send
    | ConfigureVad
    | EndAudio
    | ExpectEcho
    | StartTranscription
    | StartGeneration
    | StartSpeech
    | StartMcpListing
    | StartMcpCall
    | StopMcp
    | StopWork
    | CommitWork
    | HaveEnoughText
    | ArmTimer
    | DisarmTimer
    | Count
    | TurnMeasured
    | HangUp
)
