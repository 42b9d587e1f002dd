"""The words of a composed exploration: one thing that happens, and the way to a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

FAULTS = frozenset(
    {
        "crash",
        "wedge",
        "hang",
        "fail",
        "burst",
        "double",
        "late",
        "leave",
        "vanish",
        "cut",
        "freeze",
        "thaw",
        "rubbish",
        "shutdown",
        "force",
        "time",
    }
)
"""Moves that are accidents, or come from outside: a budget says how many there may be on a way."""


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that happens to a world.

    Attributes:
        kind: What: ``step``, ``act``, ``return``, or one of :data:`FAULTS`.
        who: An actor or a client, where there is one.
        what: A message or a deed, where there is one.
    """

    kind: str
    who: str = ""
    what: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.kind, self.who, self.what) if word)

    @property
    def is_fault(self) -> bool:
        """Whether it is an accident."""
        return self.kind in FAULTS

    @property
    def unit(self) -> int | None:
        """The unit that takes a step; None for the pool, and for all else."""
        name, _, number = self.who.partition("-")
        return int(number) if self.kind == "step" and number and name else None


@dataclass(frozen=True, slots=True)
class Trace:
    """A way through a scenario that can be read, and replayed.

    Printed, it has one line a move; what stands behind a ``#`` is for the reader.

    Attributes:
        scenario: Where the way begins: a name in ``SCENARIOS``.
        moves: What happens.
        notes: For each move, what it handled; may be left out.
    """

    scenario: str
    moves: tuple[Move, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        notes = (*self.notes, *[""] * (len(self.moves) - len(self.notes)))
        lines = [f"scenario {self.scenario}"]
        for move, note in zip(self.moves, notes, strict=True):
            lines.append(f"{move!s:<28}# {note}" if note else str(move))
        return "\n".join(lines)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what :meth:`__str__` wrote; empty lines and comments count for nothing.

        Raises:
            ValueError: There is no scenario in it, or more than a line can hold.
        """
        lines = [line.split("#")[0].split() for line in text.splitlines()]
        first, *rest = [words for words in lines if words]
        if first[0] != "scenario" or len(first) != 2:
            raise ValueError(f"a trace begins with its scenario, not with {first}")
        if too_long := [words for words in rest if len(words) > 3]:
            raise ValueError(f"no such move: {too_long[0]}")
        return cls(first[1], tuple(Move(*words) for words in rest))


class BrokenPromise(AssertionError):  # noqa: N818 - it is a finding
    """Something that must never happen has happened.

    Attributes:
        promise: What was promised, and how it was broken.
        trace: The way there.
    """

    def __init__(self, promise: str, trace: Trace) -> None:
        super().__init__(f"{promise}\nThe way there:\n{trace}")
        self.promise = promise
        self.trace = trace
