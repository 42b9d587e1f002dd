"""What the parts of a dialogue share: the session, the conversation, and what is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol.conduct import PLAIN, Conduct
from s2s_actors.protocol.conversation import Conversation
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.outputs import Output, Send
from s2s_actors.protocol.session import RealtimeSession

if TYPE_CHECKING:
    from s2s_actors.protocol.server_events import ServerEvent
    from s2s_actors.protocol.session import Session


class Desk:
    """Where a dialogue puts its outputs: one place, so their order is the order of facts."""

    def __init__(self, session: Session, conduct: Conduct = PLAIN) -> None:
        self.session = session
        self.conduct = conduct
        self.conversation = Conversation(new_id("conv"))
        self.now_ms = 0.0
        """The time, from some fixed moment: told by the owner before it feeds anything in."""
        self.may_guess = True
        """Whether the machine has time for work that may prove useless: told likewise."""
        self._outputs: list[Output] = []

    @property
    def talk(self) -> RealtimeSession:
        """The session, if it is one that answers.

        Raises:
            ClientError: It only transcribes.
        """
        if isinstance(self.session, RealtimeSession):
            return self.session
        raise ClientError(
            "invalid_value", "A transcription session has no responses.", param="type"
        )

    @property
    def answers(self) -> bool:
        """Whether what is said gets an answer without being asked for."""
        detection = self.session.audio.input.turn_detection
        conversing = isinstance(self.session, RealtimeSession)
        return conversing and detection is not None and detection.create_response

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
