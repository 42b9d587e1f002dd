"""What the parts of a dialogue share: the session, the conversation, and what is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol.conversation import Conversation
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.outputs import Output, Send

if TYPE_CHECKING:
    from s2s_actors.protocol.server_events import ServerEvent
    from s2s_actors.protocol.session import RealtimeSession


class Desk:
    """Where a dialogue puts its outputs: one place, so their order is the order of facts."""

    def __init__(self, session: RealtimeSession) -> None:
        self.session = session
        self.conversation = Conversation(new_id("conv"))
        self._outputs: list[Output] = []

    def put(self, output: Output) -> None:
        """Ask the owner to do something."""
        self._outputs.append(output)

    def send(self, event: ServerEvent) -> None:
        """Ask the owner to send an event."""
        self._outputs.append(Send(event))

    def take(self) -> list[Output]:
        """Hand over what is to be done, oldest first."""
        outputs, self._outputs = self._outputs, []
        return outputs
