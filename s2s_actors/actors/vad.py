"""The VAD stage: hears where speech starts, pauses and stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from s2s_actors.actors.ear import Ear
from s2s_actors.actors.messages import AnswerPlayed, AudioEnded, AudioIn, Bind, ConfigureVad
from s2s_actors.actors.stage import Links, StageActor
from s2s_actors.protocol.audio import WIRE_RATE_HZ

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.backends.base import TurnDetector, VoiceActivityDetector
    from s2s_actors.runtime.mailbox import Marker


class VadActor(StageActor):
    """Turns audio into speech boundaries on the session's clock."""

    stage = "vad"

    # A client may send a recording faster than it plays. What waits here is in the input
    # buffer too, which forgets nothing that has not been listened to.
    limit_bytes = 5 * 60 * WIRE_RATE_HZ * 2
    limit_messages = 16 * 1024

    def __init__(
        self, name: str, links: Links, backend: VoiceActivityDetector, turns: TurnDetector
    ) -> None:
        super().__init__(name, links)
        self._backend = backend
        self._turns = turns
        self._ear: Ear | None = None

    def open_session(self, bind: Bind) -> None:
        """Begin with fresh recurrent state; nothing is detected until settings come."""
        self._ear = Ear(bind.lease, self._backend, self._turns)

    def reset(self) -> None:
        """Forget the voice of the session."""
        self._ear = None

    def work(self, message: Any) -> None:
        """Listen."""
        assert self._ear is not None
        match message:
            case ConfigureVad():
                self._ear.configure(message)
            case AudioIn():
                self._tell(self._ear.hear(message))
            case AudioEnded():
                self._tell(self._ear.end(message))
            case AnswerPlayed():
                self._ear.played(message)
            case _:
                assert_never(message)

    def _tell(self, found: Iterable[Marker]) -> None:
        for each in found:
            self.links.conversation.put(each)
