"""Who has a share in the next step of a language model, and how large it is."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.backends.answer import Answer

__all__ = ["FREE_ROWS", "GUESS_TOKENS", "STEP_TOKENS", "Plan", "Share", "in_turn", "together"]

Share: TypeAlias = "tuple[Answer, int]"
"""An answer, and how many of its unread tokens are read in a step."""

Plan: TypeAlias = "Callable[[Sequence[Answer]], list[Share]]"
"""Shares out a step among answers, given in the order in which they came."""

STEP_TOKENS: Final = 128
"""What the model reads in one step, some 0.2 s for 135 M parameters on one core."""

GUESS_TOKENS: Final = 32
"""How many tokens of guesses may be read beside what is wanted: they make a step that writes a
few answers take twice as long, and no longer."""


FREE_ROWS: Final = 4
"""So many answers are gone on with in about the time of one: it goes into reading the weights."""


def together(answers: Sequence[Answer]) -> list[Share]:
    """Everyone who writes has a share, and newcomers divide the rest of the step.

    What is wanted goes before guesses, then what takes fewer steps to read, then who came
    first. So a long chat that has to be read holds up neither writers nor short questions. Answers
    of which there is enough for now have a share beside others only as far as it costs them hardly
    any time: somebody waits for their first sentence.
    """
    ready = _ready(answers)
    room_tokens = STEP_TOKENS
    guess_tokens = STEP_TOKENS if all(each.is_guess for each in ready) else GUESS_TOKENS
    shares: list[Share] = []
    for answer in sorted(ready, key=_rank):
        count = min(len(answer.unread), room_tokens)
        if answer.is_guess:
            count = min(count, guess_tokens)
            guess_tokens -= count
        room_tokens -= count
        if count:
            shares.append((answer, count))
    return shares


def in_turn(answers: Sequence[Answer]) -> list[Share]:
    """One answer has the whole step: of those that are wanted, the one that waits longest."""
    ready = _ready(answers)
    if not ready:
        return []
    first = min(ready, key=lambda each: (each.can_wait, each.is_guess, each.last_step))
    return [(first, min(len(first.unread), STEP_TOKENS))]


def _ready(answers: Sequence[Answer]) -> list[Answer]:
    ready = [answer for answer in answers if not answer.is_over]
    needed = [answer for answer in ready if not answer.can_wait]
    can_wait = [answer for answer in ready if answer.can_wait]
    can_wait.sort(key=lambda each: each.last_step)
    return [*needed, *can_wait[: max(0, FREE_ROWS - len(needed))]] if needed else ready


def _rank(answer: Answer) -> tuple[bool, int]:
    """A guess that proves right meanwhile may be ranked either way."""
    unread = len(answer.unread)
    return answer.is_guess, ceil(unread / STEP_TOKENS) if unread > 1 else 0
