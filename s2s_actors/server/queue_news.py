"""What a client that waits for a unit is told, if it has asked for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.actors.messages import QueueMoved
from s2s_actors.protocol.codec import encode
from s2s_actors.protocol.server_events import QueuePosition

if TYPE_CHECKING:
    from s2s_actors.server.outbox import Outbox


class QueueNews:
    """An outlet from the pool to one client that has no session yet."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def put(self, message: object) -> None:
        """Tell the client where it stands; never blocks.

        Raises:
            TypeError: It is not news of the line.
        """
        if not isinstance(message, QueueMoved):
            raise TypeError(message)
        wait_s = message.estimated_wait_s
        event = QueuePosition(
            position=message.position,
            estimated_wait_s=None if wait_s is None else round(wait_s, 1),
        )
        self._outbox.announce(encode(event))
