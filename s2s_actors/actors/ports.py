"""What the actors know of a client's connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.actors.lease import Lease
    from s2s_actors.runtime.outlet import Outlet


@dataclass(frozen=True, slots=True)
class SessionWish:
    """What a client asks for when it connects.

    Attributes:
        model: Name of a model, None for the server's own; it is only shown.
        transcription: Whether the session only transcribes.
        plain: Whether it wants nothing beyond the plain protocol.
        settings: What its session is set to from the beginning, as in ``session.update``, and
            acceptable; None for the defaults.
    """

    model: str | None = None
    transcription: bool = False
    plain: bool = False
    settings: Mapping[str, Any] | None = field(default=None, repr=False)


class ClientPort(Protocol):
    """The way out to one client. Both methods are safe from any thread and never block."""

    def send(self, frame: bytes) -> None:
        """Queue one server event, encoded as UTF-8 JSON. A no-op once the client is gone."""

    def close(self, code: int, reason: str) -> None:
        """End the connection after what is already queued. Idempotent."""


@dataclass(frozen=True, slots=True)
class Granted:
    """A unit has been claimed and bound: ``session.created`` is on its way.

    Attributes:
        lease: What the connection puts into every message.
        inlet: Takes :class:`~s2s_actors.actors.messages.ClientFrame`.
        unit: Takes :class:`~s2s_actors.actors.messages.EndSession`.
    """

    lease: Lease
    inlet: Outlet
    unit: Outlet


@dataclass(frozen=True, slots=True)
class Refused:
    """No unit for this client.

    Attributes:
        code: Protocol error code, such as ``session_limit_reached``.
        message: Text for a person.
        close_code: Websocket close code: 1013 (try again later) or 1001 (going away).
        retry_after_s: Hint when to try again, if one is known.
    """

    code: str
    message: str
    close_code: int
    retry_after_s: float | None = None


ClaimReply: TypeAlias = Granted | Refused
