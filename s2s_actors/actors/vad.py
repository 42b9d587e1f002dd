"""The VAD stage: hears where speech starts, pauses and stops."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from s2s_actors.actors.ear import Ear, Weighing
from s2s_actors.actors.messages import (
    AnswerPlayed,
    AudioEnded,
    AudioIn,
    Bind,
    ConfigureVad,
    SpeechStarted,
    StageWorked,
    WeighingFailed,
)
from s2s_actors.actors.stage import Links, StageActor
from s2s_actors.protocol.audio import size_bytes
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.backends.base import TurnDetector, VadStream, VoiceActivityDetector
    from s2s_actors.runtime.mailbox import Marker

_BYTES_PER_S = size_bytes(1000)


class VadActor(StageActor):
    """Turns audio into speech boundaries on the session's clock.

    Promises: what it is told takes effect between the audio that came before and the audio that
    comes after. Where it shares a thread with others, it listens in rounds with them
    (:class:`~s2s_actors.actors.listening_rounds.ListeningRounds`); else at once.

    Args:
        name: Of the actor.
        links: The neighbours.
        backend: Hears speech.
        turns: Tells how finished it sounds.
        around: Which thread it runs on, and who learns how late sound is heard.
    """

    stage = "vad"

    # A client may send a recording faster than it plays. What waits here is in the input
    # buffer too, which forgets nothing that has not been listened to.
    limit_bytes = size_bytes(5 * 60_000)
    limit_messages = 16 * 1024

    def __init__(
        self,
        name: str,
        links: Links,
        backend: VoiceActivityDetector,
        turns: TurnDetector,
        around: Surroundings,
    ) -> None:
        hosts = around.hosts
        super().__init__(name, links, hosts.hearing)
        self._backend = backend
        self._turns = turns
        self._rounds = hosts.rounds
        self._aside = hosts.aside
        self._health = around.health
        self._due_s = self._next_due_s = -math.inf
        self._ear: Ear | None = None
        self._scope = CancelToken()
        self._frame: NDArray[np.float32] | None = None
        self._postponed = 0

    def open_session(self, bind: Bind) -> None:
        """Begin with fresh recurrent state; nothing is detected until settings come."""
        lease, self._scope = bind.lease, bind.scope
        self._ear = Ear(lease, self._backend, self._turns, partial(self._weigh, lease))

    def reset(self) -> None:
        """Forget the voice of the session."""
        self._ear = self._frame = None
        self._due_s = self._next_due_s = -math.inf

    def work(self, message: Any) -> None:
        """Listen."""
        ear = self._ear
        assert ear is not None
        if isinstance(message, AudioIn):
            if self._scope.cancelled:  # the session is ending: nobody wants to know
                return
            self._take_in(ear, message)
            return
        self._tell(ear.catch_up())
        match message:
            case ConfigureVad():
                ear.configure(message)
            case AudioEnded():
                self._tell(ear.end(message))
            case AnswerPlayed():
                ear.played(message)
            case WeighingFailed(error=error):
                raise error
            case _:
                assert_never(message)

    def _take_in(self, ear: Ear, message: AudioIn) -> None:
        # Audio that comes faster than it plays is in time as long as it is heard before it
        # would have been played.
        self._due_s = max(message.came_s, self._next_due_s)
        self._next_due_s = self._due_s + len(message.pcm) / _BYTES_PER_S
        ear.take_in(message)
        if self._rounds is None:
            self._tell(ear.catch_up())
            self._note_lateness()
        else:
            self._rounds.join(self)

    def _note_lateness(self) -> None:
        self._health.note("hearing", self._health.now_s() - self._due_s)

    # --- in rounds with others ------------------------------------------------------------

    def serve(self) -> None:
        """Handle the next message, but not while there is much to listen to already."""
        if self._has_enough and not self.is_over:
            self._postponed += 1
            self._note_lateness()
        else:
            super().serve()

    def next_frame(self) -> tuple[VadStream, NDArray[np.float32]] | None:
        """What to listen to in this round, None if there is nothing; then :meth:`hear` follows."""
        ear = self._ear
        if ear is None or self.is_over:
            return None
        if self._scope.cancelled:
            ear.framing.drop()
        self._frame = ear.framing.next()
        return None if self._frame is None else (ear.stream, self._frame)

    @property
    def has_more(self) -> bool:
        """Whether there may be something for the next round."""
        return not self.is_over and self._ear is not None and self._ear.framing.has_more

    def hear(self, probability: float) -> None:
        """How likely that frame is speech."""
        assert self._ear is not None
        assert self._frame is not None
        frame, self._frame = self._frame, None
        self._tell(self._ear.hear(frame, probability))
        if not self._ear.framing.has_more:
            self._note_lateness()

    def serve_postponed(self) -> None:
        """Handle what came while there was much to listen to, as soon as there is not."""
        while self._postponed and not self._has_enough:
            self._postponed -= 1
            super().serve()

    @property
    def _has_enough(self) -> bool:
        if self._ear is None or self._scope.cancelled:  # nobody will listen to what there is
            return False
        return self._ear.framing.has_enough

    # ------------------------------------------------------------------------------------------

    def _weigh(self, lease: Lease, weighing: Weighing) -> None:
        """Have somebody else ask the end-of-turn model, which takes longer than a frame lasts."""
        conversation, own, turns = self.links.conversation, self.outlet, self._turns

        def ask() -> None:
            try:
                conversation.put(weighing.answer(lease, turns))
            except Exception as error:  # noqa: BLE001 - the stage answers for its models
                own.put(WeighingFailed(lease, error))

        self._aside(f"turn-{self.name}", ask)

    def _tell(self, found: Iterable[Marker]) -> None:
        for each in found:
            self.links.conversation.put(each)
            if isinstance(each, SpeechStarted):
                self.links.unit.put(StageWorked(each.lease, self.stage))
