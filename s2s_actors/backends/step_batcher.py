"""Runs a language model step by step for all answers that are being written."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.backends.foreground import FOREGROUND

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import torch

    from s2s_actors.backends.answer import Answer
    from s2s_actors.backends.step_plan import Plan, Share

__all__ = ["Read", "StepBatcher"]

Read: TypeAlias = "Callable[[Sequence[Share]], torch.Tensor]"
"""Reads the shares of one step; the scores of what comes next are answers x vocabulary."""


class StepBatcher:
    """Lets answers join and leave before any step; a step goes on with all of them.

    There is no thread of its own: of the threads that wait for a token, one runs the step for
    all. Answers are gone on with whether or not their threads are ready for the next token,
    so nobody waits for a slow one.

    Promises: cancelling takes effect within one step. An answer that fails ends alone. While
    :meth:`tokens` of an answer is closed nothing is read for it.

    Args:
        read: Runs the model; one call at a time. If it fails it leaves the answers as they were.
        plan: Shares out each step.
    """

    def __init__(self, read: Read, plan: Plan) -> None:
        self._read = read
        self._plan = plan
        self._changed = threading.Condition()
        # In the order in which they came.
        self._answers: list[Answer] = []
        self._is_led = False
        self._in_step: frozenset[Answer] = frozenset()
        self._steps = 0

    def tokens(self, answer: Answer) -> Generator[int]:
        """The tokens of an answer as they are written; ends early once cancelled.

        Raises:
            Exception: What the model failed with.
        """
        with self._changed:
            self._answers.append(answer)
        try:
            given = 0
            while self._await(answer, given):
                yield answer.written[given]
                given += 1
        finally:
            with self._changed:
                self._answers.remove(answer)
                self._changed.wait_for(lambda: answer not in self._in_step)

    def _await(self, answer: Answer, given: int) -> bool:
        """Wait, or run steps, until there is another token; whether there is one."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._is_led or _has_news(answer, given))
                if answer.call.cancel.cancelled:
                    return False
                if given < len(answer.written):
                    return True
                if answer.error is not None:
                    raise answer.error
                if answer.is_over:
                    return False
                self._is_led = True
            self._lead(answer)

    def _lead(self, leader: Answer) -> None:
        """Run one step for all."""
        try:
            FOREGROUND.give_way(self._most_urgent(leader).call.urgency)
            self._step(self._begin())
        finally:
            with self._changed:
                self._is_led = False
                self._in_step = frozenset()
                self._changed.notify_all()

    def _most_urgent(self, leader: Answer) -> Answer:
        with self._changed:
            return next((each for each in self._answers if not each.is_guess), leader)

    def _begin(self) -> list[Share]:
        """Share out a step; from now on its answers can't leave until it is over."""
        with self._changed:
            shares = self._plan(self._answers)
            self._in_step = frozenset(answer for answer, _ in shares)
            self._steps += 1
            for answer, _ in shares:
                answer.last_step = self._steps
        return shares

    def _step(self, shares: Sequence[Share]) -> None:
        if not shares:
            return
        try:
            scores = self._read(shares)
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            if len(shares) == 1:
                shares[0][0].error = error
                return
            # One of them is to blame, and only that one is to fail.
            for share in shares:
                self._step([share])
            return
        for row, (answer, count) in enumerate(shares):
            try:
                answer.take(count, scores[row : row + 1])
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                answer.error = error


def _has_news(answer: Answer, given: int) -> bool:
    return given < len(answer.written) or answer.is_over
