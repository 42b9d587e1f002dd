"""An answer that was interrupted, and how it would go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.protocol.entry import heard_words

if TYPE_CHECKING:
    from s2s_actors.protocol.entry import Entry
    from s2s_actors.protocol.response_plan import ResponsePlan


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that the assistant speaks or has spoken.

    Attributes:
        plan: The response that it belongs to.
        entry: The message, which knows how much of it was heard.
        text: All that was written, heard or not.
    """

    plan: ResponsePlan
    entry: Entry
    text: str


@dataclass(frozen=True, slots=True)
class Interruption:
    """What the user has stopped by speaking.

    Attributes:
        spoken: What was being said, None if no sound of it had been sent.
        resumes: Whether it may go on if the user had nothing to say.
        was_nearly_over: The user may have answered the last words, be it with a "yes".
        is_owed: Nothing had been given yet: what the user had said still wants its answer.
    """

    spoken: Spoken | None
    resumes: bool
    is_owed: bool
    was_nearly_over: bool

    @property
    def rest(self) -> str:
        """What is left to say; begins with the word that was cut."""
        if self.spoken is None:
            return ""
        entry, text = self.spoken.entry, self.spoken.text
        if entry.heard_ms is None:
            return ""
        heard = heard_words(entry.pieces, entry.heard_ms)
        return _behind(text, sum(not char.isspace() for char in heard))

    @property
    def can_go_on(self) -> bool:
        """Whether there is something to go on with."""
        return self.resumes and bool(self.rest)


def _behind(text: str, heard: int) -> str:
    """What comes behind so many characters that are no white space.

    Pieces are cut between words, but not all scripts have spaces there.
    """
    for place, char in enumerate(text):
        if heard == 0 and not char.isspace():
            return text[place:].rstrip()
        heard -= not char.isspace()
    return ""
