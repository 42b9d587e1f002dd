"""Where the time between a question and its answer went, and why it took so long."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from msgspec import UNSET, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

WATERFALL: Final = "turn.waterfall"
"""Name under which a session includes waterfalls, and type of the event."""

Stage: TypeAlias = Literal["settling", "recognizing", "preparing", "thinking", "writing", "voicing"]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
"""What a user waits for, in order: the states of the chart ``pace`` that are no end."""

Wait: TypeAlias = Literal["mcp_lists", "transcripts", "response"]
"""What an answer may depend on besides its own transcript."""

NoAnswer: TypeAlias = Literal["noise", "unwanted", "talked_over", "cancelled", "failed", "empty"]
"""Why a turn has no answer."""

_AWAITED: Final[Mapping[Stage, str]] = {
    "settling": "the silence that ends a turn",
    "recognizing": "speech recognition",
    "preparing": "what else the answer depends on",
    "thinking": "the language model's first word",
    "writing": "the language model's first sentence",
    "voicing": "the voice's first sound",
}
_WAITS: Final[Mapping[Wait, str]] = {
    "mcp_lists": "the lists of tools of MCP servers",
    "transcripts": "transcripts of what else was said",
    "response": "the end of another answer",
}
_THERE: Final[Mapping[Stage, str]] = {
    "recognizing": "the transcript",
    "preparing": "the transcript",
    "thinking": "the first word",
    "writing": "the first sentence",
}
_NO_ANSWER: Final[Mapping[NoAnswer, str]] = {
    "noise": "only noise was heard",
    "unwanted": "none was wanted",
    "talked_over": "the user spoke on",
    "cancelled": "it was cancelled",
    "failed": "a model failed",
    "empty": "the language model had nothing to say",
}


class WaterfallStep(Struct, frozen=True, kw_only=True):
    """One thing that was waited for, in whole milliseconds.

    ``ahead``: it was there already when its turn came, so nobody waited for it.
    """

    name: Stage
    ms: int
    ahead: bool = False


class WorkTimes(Struct, frozen=True, kw_only=True):
    """How long work took in itself, in milliseconds, also if nobody waited for it.

    Speech recognition; then, from the start of the answer's generation, its first word and
    its first sound. What is not known is left out.
    """

    stt_ms: int | UnsetType = UNSET
    first_token_ms: int | UnsetType = UNSET
    first_audio_ms: int | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The wait for one answer, cut into steps that add up to it exactly.

    Attributes:
        steps: What was waited for, in order; what was done ahead took 0 ms.
        reason: Why it took so long, in one line; nothing that was said is in it.
        answered: Whether the answer has begun.
        work: How long the work took in itself, as far as that is known.
    """

    steps: tuple[WaterfallStep, ...]
    reason: str
    answered: bool
    work: WorkTimes

    @property
    def total_ms(self) -> int:
        """The whole wait."""
        return sum(step.ms for step in self.steps)


def steps_of(
    spent_ms: Mapping[Stage, float], ahead: AbstractSet[Stage]
) -> tuple[WaterfallStep, ...]:
    """Steps from the times that were spent in the stages that were entered.

    Rounding happens once, on the time since the beginning, so that the steps can't drift
    from the total.
    """
    entered = [stage for stage in STAGES if stage in spent_ms]
    places = [round(at_ms) for at_ms in accumulate(spent_ms[stage] for stage in entered)]
    return tuple(
        WaterfallStep(name=stage, ms=end - start, ahead=stage in ahead)
        for stage, (start, end) in zip(entered, pairwise([0, *places]), strict=True)
    )


def reason_of(
    steps: tuple[WaterfallStep, ...], *, waited_for: Wait | None, no_answer: NoAnswer | None
) -> str:
    """Why it took so long: the longest step, and what was ready before it was over.

    Args:
        steps: At least one.
        waited_for: What kept it preparing, if that is known.
        no_answer: Why there is no answer; None if there is one.
    """
    if no_answer is None:
        return _longest(steps, waited_for)
    ended = f"no answer: {_NO_ANSWER[no_answer]}"
    if no_answer in ("noise", "unwanted"):
        return ended
    return f"{ended}; until then: {_longest(steps, waited_for)}"


def _longest(steps: tuple[WaterfallStep, ...], waited_for: Wait | None) -> str:
    place, longest = max(enumerate(steps), key=lambda entry: entry[1].ms)
    if longest.ms == 0:
        return "nothing was waited for"
    what = _AWAITED[longest.name]
    if longest.name == "preparing" and waited_for is not None:
        what = _WAITS[waited_for]
    total_ms = sum(step.ms for step in steps)
    return f"{what} ({longest.ms} of {total_ms} ms){_readiness(steps[place + 1 :])}"


def _readiness(rest: tuple[WaterfallStep, ...]) -> str:
    """What was there when the longest step was over; behind a wait nobody can tell."""
    there = [step for step in takewhile(lambda step: not step.ms, rest) if step.ahead]
    if not there:
        return ""
    what = "the answer" if there[-1] is rest[-1] else _THERE[there[-1].name]
    return f"; {what} was ready before"
