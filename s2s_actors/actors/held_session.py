"""What a unit holds for the lease that it is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol import codec
from s2s_actors.protocol.server_events import server_error
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.ports import ClientPort, SessionWish
    from s2s_actors.runtime.supervision import RestartIntensity


class HeldSession:
    """One session in the hands of its unit.

    Attributes:
        lease: The session.
        client: The way to its client.
        wish: What that asked for.
        intensity: How often its stages may be replaced: counted by session, for what one
            client provokes must not cost the next one its session.
        scope: Cancelled when it ends.
        passed: Stages that have passed its SESSION_END on.
    """

    def __init__(
        self, lease: Lease, client: ClientPort, wish: SessionWish, intensity: RestartIntensity
    ) -> None:
        self.lease = lease
        self.client = client
        self.wish = wish
        self.intensity = intensity
        self.scope = CancelToken()
        self.passed: set[str] = set()

    def hang_up(self, close_code: int, reason: str, error_code: str | None) -> None:
        """Tell the client that its session is over, and why."""
        if error_code is not None:
            self.client.send(codec.encode(server_error(error_code, f"Session ended: {reason}.")))
        self.client.close(close_code, reason)
