"""Whether somebody waits for a piece of work, may do so later, or would hardly miss it."""

from __future__ import annotations

from enum import IntEnum


class Need(IntEnum):
    """Classes of work, what goes first first."""

    WANTED = 0
    """Somebody waits for it."""
    GUESS = 1
    """Somebody will wait for it if a guess proves right."""
    GLANCE = 2
    """A look at what is being said, to show it: the next look tells as much and more."""


class Urgency:
    """Tells work on a guess from work that is wanted; it changes once, from guess to wanted.

    Work on a guess gives way: a model that serves several sessions takes what is wanted
    first. One object goes along with all the work for one answer, so that the whole of it
    becomes urgent at the moment when the guess proves right. Assignment of one reference is
    atomic, so readers in other threads need no lock.

    Attributes:
        text_can_wait: Whether so much has been written that the voice has enough to say for
            now; who writes for others that have nothing yet goes first.
    """

    __slots__ = ("_need", "text_can_wait")

    def __init__(self, *, speculative: bool = False, glance: bool = False) -> None:
        """Begin in a class.

        Args:
            speculative: Whether it is a guess.
            glance: Whether it is not even that, but a look at what is still being said.
        """
        guess = Need.GUESS if speculative else Need.WANTED
        self._need = Need.GLANCE if glance else guess
        self.text_can_wait = False

    @property
    def need(self) -> Need:
        """The class that it belongs to now."""
        return self._need

    @property
    def speculative(self) -> bool:
        """Whether it may turn out that nobody wants the result."""
        return self._need is not Need.WANTED

    def commit(self) -> None:
        """The guess was right: somebody waits for it now. Idempotent."""
        self._need = Need.WANTED
