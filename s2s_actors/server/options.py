"""What the operator decides about the listener."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.server.door import Door

if TYPE_CHECKING:
    import ssl

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Addresses, bounds and deadlines of the server.

    Attributes:
        host: Name or address to listen on.
        port: Port to listen on; 0 lets the system choose.
        max_frame_bytes: Largest message of a client; a larger one closes with 1009. 15 MiB
            of audio in one append are 20 MiB of base64.
        compression: Whether clients may negotiate ``permessage-deflate``: it costs more CPU
            than base64 of audio is worth on a fast network.
        write_timeout_s: How long a client may leave its socket unread before it is dropped.
        close_timeout_s: How long a client may take over its half of a closing handshake.
        handshake_timeout_s: How long a client may take over its request.
        max_connections: How many may be connected at a time; a quarter of them may come from
            one place and have sent no request yet.
        ping_interval_s: Time between keepalive pings; None for none.
        ping_timeout_s: How long the pong may take before the client counts as lost.
        outbox_limit_events: Events that may wait for a slow client.
        outbox_limit_bytes: Bytes that may wait for a slow client.
        door: Who may have a session.
        tls: Certificate and key for ``wss://``; None for ``ws://``.
        show_session_ids: Whether ``/v1/pool`` names the sessions; None shows them only
            where nobody but this machine can ask.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    max_frame_bytes: int = 32 * _MIB
    compression: bool = False
    write_timeout_s: float = 10.0
    close_timeout_s: float = 2.0
    handshake_timeout_s: float = 10.0
    max_connections: int = 1000
    ping_interval_s: float | None = 20.0
    ping_timeout_s: float | None = 20.0
    outbox_limit_events: int = 50_000
    outbox_limit_bytes: int = 64 * _MIB
    door: Door = field(default_factory=Door)
    tls: ssl.SSLContext | None = None
    show_session_ids: bool | None = None

    @property
    def session_ids_shown(self) -> bool:
        """``show_session_ids``, decided."""
        if self.show_session_ids is not None:
            return self.show_session_ids
        return self.host in {"127.0.0.1", "::1", "localhost"}
