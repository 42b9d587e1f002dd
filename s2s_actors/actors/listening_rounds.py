"""Voice detection of many sessions: each gives a frame, and one call of the model hears all."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from s2s_actors.backends.abilities import batch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from s2s_actors.actors.vad import VadActor
    from s2s_actors.backends.base import VadStream, VoiceActivityDetector

    _Turn = tuple[VadActor, VadStream, NDArray[np.float32]]


logger = logging.getLogger(__name__)


class ListeningRounds:
    """What a dispatcher's rounds are for voice detection.

    Promises: a frame is heard in the first round after it came, whether others have one or not;
    frames of one session keep their order; if the model fails, then only for those whose frame
    it fails with.
    """

    def __init__(self, backend: VoiceActivityDetector) -> None:
        self._batch = batch_of(backend)
        self._waiting: dict[VadActor, None] = {}
        self._round: list[_Turn] = []

    def join(self, actor: VadActor) -> None:
        """An actor has something to listen to."""
        self._waiting[actor] = None

    @property
    def is_due(self) -> bool:
        """Whether anybody has."""
        return bool(self._waiting)

    def take(self) -> Sequence[VadActor]:
        """Take a frame of each."""
        self._round.clear()
        for actor in list(self._waiting):
            if (found := actor.next_frame()) is not None:
                self._round.append((actor, *found))
            if not actor.has_more:
                del self._waiting[actor]
                actor.serve_postponed()
        return [actor for actor, _, _ in self._round]

    def run(self, is_wanted: Callable[[], bool]) -> None:
        """Hear them all."""
        taken, self._round = self._round, []
        if not taken:
            return
        heard = self._all_at_once(taken)
        for index, (actor, stream, frame) in enumerate(taken):
            if not is_wanted():
                return
            if heard is None:
                actor.supervised(_hear_alone, actor, stream, frame)
            else:
                actor.supervised(actor.hear, heard[index])
            actor.serve_postponed()

    def _all_at_once(self, taken: Sequence[_Turn]) -> list[float] | None:
        """None if that can't be done."""
        if self._batch is None:
            return None
        try:
            return self._batch([turn[1] for turn in taken], [turn[2] for turn in taken])
        except Exception:
            logger.warning("voice detection failed with %d frames", len(taken), exc_info=True)
            return None


def _hear_alone(actor: VadActor, stream: VadStream, frame: NDArray[np.float32]) -> None:
    actor.hear(stream.probability(frame))
