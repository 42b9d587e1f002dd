"""Messages that move sessions and units along, and carry what the client says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.actors.ports import SessionWish
from s2s_actors.runtime.mailbox import Control, Data, Marker, Pressing

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.ports import ClaimReply, ClientPort
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.runtime.reply import ReplyPort


# --- to the pool -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim(Control):
    """A client wants a unit. ``client`` receives all that the session says.

    ``news`` takes :class:`QueueMoved` while the claim waits, if the client wants to know.
    """

    session_id: str
    client: ClientPort
    reply: ReplyPort[ClaimReply]
    wish: SessionWish = field(default_factory=SessionWish)
    news: Outlet | None = None


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


# --- to who waits ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueMoved(Control):
    """Where a claim stands in the line, counted from 1, and how long that takes, if known."""

    position: int
    estimated_wait_s: float | None


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
class SessionEnd(Pressing):
    """SESSION_END: travels through every stage, in order, as data."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class StagePassed(Control):
    """A stage has reset and passed SESSION_END on (bookkeeping for quarantine)."""

    lease: Lease
    stage: str


@dataclass(frozen=True, slots=True)
class StageWorked(Control):
    """To the unit and on to the pool: the backend of a stage did what it was asked."""

    lease: Lease
    stage: str


@dataclass(frozen=True, slots=True)
class StageFailed(Control):
    """To the unit and on to the pool: the backend of a stage failed.

    Attributes:
        lease: Whose work it was.
        stage: Which place of the pipeline.
        reason: A code of the server's own, for the log.
        blames_request: Whether what was asked is to blame, so that it says nothing about the
            backend.
    """

    lease: Lease
    stage: str
    reason: str
    blames_request: bool = False


@dataclass(frozen=True, slots=True)
class StageReplaced(Control):
    """To the conversation: a stage crashed, and all that it was doing is lost."""

    lease: Lease
    stage: str


# --- conversation and connection --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClientFrame(Data):
    """One client event, decoded.

    Attributes:
        lease: The session.
        event: What it says.
        came_s: When it came, on the process's clock.
        cost_bytes: The size of the frame: what the lane's bound counts.
    """

    lease: Lease
    event: ClientEvent
    came_s: float
    cost_bytes: int


# --- timers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimerFired(Control):
    """A deadline that the receiver armed has come; stale ones are told apart by ``serial``."""

    lease: Lease | None
    name: str
    serial: int
