"""An answer to words that may not be all: begun where nobody can see it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from s2s_actors.protocol.outputs import Count, StartSpeech

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.delivery import Delivery, Segment
    from s2s_actors.protocol.outputs import StartGeneration
    from s2s_actors.protocol.pacing import Milestone
    from s2s_actors.protocol.response_plan import ResponsePlan
    from s2s_actors.protocol.turn_clock import TurnClock

SEGMENTS_AHEAD = 1
"""How much is spoken of a draft: the beginning is what the user would wait for."""


@dataclass(slots=True, eq=False)
class Draft:
    """What the stages have made of a guess.

    Promises: nothing of it is seen anywhere. What comes in is kept as it came; if the guess
    proves right, the response takes all of it in at once, as if it had come just then.

    Attributes:
        plan: What the response will be.
        request: What the language model was asked; the draft is good for nothing else.
        delivery: Tells where its first segment ends.
        kept: What has come in, each as a call that feeds it to the response.
        asked: How many segments the voice was asked for.
        clock: Of the turn that it answers.
    """

    plan: ResponsePlan
    request: StartGeneration
    delivery: Delivery
    clock: TurnClock | None
    kept: list[Callable[[], None]] = field(default_factory=list)
    asked: int = 0
    read: int = 0
    written: int = 0

    @property
    def work_id(self) -> str:
        """Names it to the stages."""
        return self.request.response_id

    def reached(self, milestone: Milestone) -> None:
        """The answer has come so far, and nobody knows it."""
        if self.clock is not None:
            self.clock.reached(milestone, spoken=self.plan.modality == "audio")

    def fits(self, plan: ResponsePlan, request: StartGeneration) -> bool:
        """Whether the language model and the voice would be asked just the same now."""
        mine = replace(request, response_id=self.work_id, speculative=True)
        return mine == self.request and plan == self.plan

    def ask(self, segments: list[Segment]) -> list[StartSpeech]:
        """What the voice is asked for, of segments that are complete now."""
        ahead = [each for each in segments if each.number < SEGMENTS_AHEAD]
        self.asked += len(ahead)
        plan = self.plan
        return [
            StartSpeech(self.work_id, each.number, each.speech, plan.voice, plan.speed)
            for each in ahead
        ]

    def cost(self) -> Count:
        """What it has cost in vain."""
        return Count(speculative_input_tokens=self.read, speculative_output_tokens=self.written)
