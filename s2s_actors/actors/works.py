"""The pieces of work that a session has given to the stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from s2s_actors.runtime.cancel import CancelToken


@dataclass(frozen=True, slots=True)
class Work:
    """How a piece of work is stopped, and whether it is a guess."""

    cancel: CancelToken
    urgency: Urgency


class Works:
    """Work by its id.

    Promises: all the work for one answer shares one token and one urgency; none outlives the
    session.
    """

    def __init__(self, scope: CancelToken) -> None:
        self._scope = scope
        self._works: dict[str, Work] = {}

    def of(self, work_id: str, *, speculative: bool = False, glance: bool = False) -> Work:
        """The work of this id.

        Args:
            work_id: Names it.
            speculative: Whether it is a guess, if it is new.
            glance: Whether it is only a look at what is being said, if it is new.
        """
        work = self._works.get(work_id)
        if work is None:
            work = Work(self._scope.child(), Urgency(speculative=speculative, glance=glance))
            self._works[work_id] = work
        return work

    def commit(self, work_id: str) -> None:
        """A guess was right."""
        if work := self._works.get(work_id):
            work.urgency.commit()

    def have_enough(self, work_id: str, *, enough: bool) -> None:
        """There is text enough of an answer for now, or there is not any more."""
        if work := self._works.get(work_id):
            work.urgency.text_can_wait = enough

    def stop(self, work_id: str) -> None:
        """Nobody wants it any more, or it is done."""
        if work := self._works.pop(work_id, None):
            work.cancel.cancel()
