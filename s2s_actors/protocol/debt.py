"""Words of the user that have no answer yet, and when they get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol.response import ResponseParams

if TYPE_CHECKING:
    from s2s_actors.protocol.answering import Answering


class AnswerDebt:
    """Decides when the assistant answers of its own accord.

    Promises: words that want an answer get one, once, together with all that was said
    meanwhile: at once if nothing is in the way, else after the running response, else as
    soon as the user has finished. A request of the client pays for all of them.
    """

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        # They wait for the end of the running response.
        self._due = False
        # Nobody answers them yet: they were talked over, or their answer was cut off unheard.
        self.owed = False

    def answer(self, *, context_ready: bool) -> None:
        """Answer what was said, as soon as no other response is in the way.

        Args:
            context_ready: False if some of the words are not known yet.
        """
        self.owed = False
        current = self._answering.current
        if current is None:
            self._answering.create(ResponseParams(), context_ready=context_ready)
        elif not current.chart.waiting.is_active:
            self._due = True

    def owe(self) -> None:
        """Words were said that nothing answers, unless a response still waits for its context."""
        current = self._answering.current
        self.owed = current is None or not current.chart.waiting.is_active

    def forgive(self) -> None:
        """The client has taken over."""
        self.owed = False

    def response_over(self, *, user_speaks: bool, context_ready: bool) -> None:
        """A response of the conversation has ended: what waited for that?"""
        if not self._due:
            return
        self._due = False
        if user_speaks:
            self.owed = True
        else:
            self.answer(context_ready=context_ready)
