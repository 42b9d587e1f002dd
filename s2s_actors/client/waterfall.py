"""The waterfall of a turn: where the time between question and answer went."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.client.turns import Turn

__all__ = ["STAGES", "Stage", "Step", "Waterfall", "stage_times_ms", "waterfall"]

Stage: TypeAlias = Literal[
    "end of speech", "speech_stopped", "transcript", "first token", "first audio", "response.done"
]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
"""The stages of a turn in the order in which they usually come."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage that was reached.

    Attributes:
        stage: Which.
        at_ms: When, from the start of the waterfall.
        interval_ms: Time since the stage before it; 0 for the first.
    """

    stage: Stage
    at_ms: int
    interval_ms: int


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Stages in the order in which they came.

    The intervals are whole milliseconds, never negative, and add up to ``total_ms``.

    Attributes:
        steps: What was reached, the earliest first.
        missing: What was not, in usual order.
    """

    steps: tuple[Step, ...]
    missing: tuple[Stage, ...]

    @property
    def total_ms(self) -> int:
        """From the first stage to the last."""
        return self.steps[-1].at_ms if self.steps else 0

    def at_ms(self, stage: Stage) -> int | None:
        """When a stage was reached, from the start of the waterfall."""
        return next((step.at_ms for step in self.steps if step.stage == stage), None)


def waterfall(times_ms: Mapping[Stage, float | None]) -> Waterfall:
    """Put stages in order of time; on a tie the usual order holds.

    Rounding happens once, on the distance from the first stage, so intervals can't drift
    from the total.
    """
    reached = [(at, stage) for stage in STAGES if (at := times_ms.get(stage)) is not None]
    reached.sort(key=lambda entry: entry[0])
    zero_ms = reached[0][0] if reached else 0.0
    places = [round(at - zero_ms) for at, _ in reached]
    intervals = [0, *(later - earlier for earlier, later in pairwise(places))]
    steps = zip((stage for _, stage in reached), places, intervals, strict=False)
    return Waterfall(
        steps=tuple(Step(*step) for step in steps),
        missing=tuple(stage for stage in STAGES if times_ms.get(stage) is None),
    )


def stage_times_ms(turn: Turn) -> dict[Stage, float | None]:
    """When a turn reached each stage; the answer is the last one that the turn got."""
    answer = turn.answers[-1] if turn.answers else None
    return {
        "end of speech": turn.speech_end_ms,
        "speech_stopped": turn.stopped_ms,
        "transcript": turn.transcript_ms,
        "first token": answer.first_token_ms if answer else None,
        "first audio": answer.first_audio_ms if answer else None,
        "response.done": answer.done_ms if answer else None,
    }
