"""Whether somebody waits for a piece of work, or only may do so later."""

from __future__ import annotations


class Urgency:
    """Tells work on a guess from work that is wanted; it changes once, from guess to wanted.

    Work on a guess gives way: a model that serves several sessions takes what is wanted
    first. One object goes along with all the work for one answer, so that the whole of it
    becomes urgent at the moment when the guess proves right. Assignment of one reference is
    atomic, so readers in other threads need no lock.
    """

    __slots__ = ("_speculative",)

    def __init__(self, *, speculative: bool = False) -> None:
        self._speculative = speculative

    @property
    def speculative(self) -> bool:
        """Whether it may turn out that nobody wants the result."""
        return self._speculative

    def commit(self) -> None:
        """The guess was right: somebody waits for it now. Idempotent."""
        self._speculative = False
