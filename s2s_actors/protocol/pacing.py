"""Takes the times of a turn on its way to the first sound of its answer.

The owner tells what is reached and when; the chart says what is waited for meanwhile::

    pace = TurnPace(start_ms=1000.0)  # the user falls silent
    pace.reached("heard", 1300.0)  # a guess at the whole turn: nobody waits for it yet
    pace.reached("settled", 1500.0)
    pace.reached("ready", 1500.0)
    pace.reached("word", 1700.0)
    pace.reached("sound", 1750.0)
    pace.report().reason
    # "the silence that ends a turn (500 of 750 ms); the transcript was ready before"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from msgspec.structs import replace

from s2s_actors.protocol.waterfall import (
    STAGES,
    Stage,
    Waterfall,
    WorkTimes,
    reason_of,
    steps_of,
)
from statecharts.pace import PaceChart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.protocol.waterfall import NoAnswer, Wait

Milestone: TypeAlias = Literal["settled", "heard", "ready", "word", "sentence", "sound"]
MILESTONES: Final[tuple[Milestone, ...]] = get_args(Milestone)
"""The end of the silence, the transcript, all else that the answer depends on, its first
word, its first whole sentence, its first sound: each ends one stage."""

_ENDS: Final[Mapping[Stage, Milestone]] = dict(zip(STAGES, MILESTONES, strict=True))
_OF_ANSWER: Final = MILESTONES[2:]
"""Each of them proves those before it: a sound comes of a sentence, a sentence of words."""


class TurnPace:
    """The times of one turn.

    Promises: nothing that is told makes it fail, be it early, doubled, late or missing;
    times that run backwards stand still. Every moment is counted once, so the steps of the
    report add up to the time from the start to the last thing that was told before the end.
    """

    def __init__(self, start_ms: float) -> None:
        """Begin to wait.

        Args:
            start_ms: When the user fell silent, on the monotonic clock of all other times.
        """
        self._chart = PaceChart()
        self._at_ms = start_ms
        self._spent_ms: dict[Stage, float] = {"settling": 0.0}
        self._known: set[Milestone] = set()
        self._ahead: set[Stage] = set()
        self._spoken = True
        self._waited_for: Wait | None = None
        self._no_answer: NoAnswer | None = None
        self._work = WorkTimes()

    @property
    def is_over(self) -> bool:
        """Whether the turn is answered, or will not be."""
        return self._stage is None

    @property
    def _stage(self) -> Stage | None:
        name = self._chart.state_name
        return cast("Stage", name) if name in _ENDS else None

    def reached(self, milestone: Milestone, at_ms: float, *, spoken: bool = True) -> bool:
        """Something is there that was, or will be, waited for.

        What comes before its turn is kept until then. Only the first of each counts, so
        every piece of text or sound may be told.

        Args:
            milestone: What is there. A call of a tool is a word that is not spoken.
            at_ms: When; for what is kept from the client until the turn has settled, when
                it was made.
            spoken: With ``word``: whether it is to be heard. If not, it is the answer.

        Returns:
            Whether this was the beginning of the answer: the time for a report.
        """
        if self.is_over or milestone in self._known:
            return False
        if milestone == "word":
            self._spoken = spoken
        before = frozenset(self._known)
        proven = _OF_ANSWER.index(milestone) + 1 if milestone in _OF_ANSWER else 0
        self._known.update((milestone, *_OF_ANSWER[:proven]))
        self._spend(at_ms)
        self._pass(before)
        return self.is_over

    def retract(self, at_ms: float, *, transcript: bool = False) -> None:
        """An answer that was begun is of no use, and nobody has heard of it.

        Args:
            at_ms: When that became known.
            transcript: Whether the words that it answers are of no use either.
        """
        if self.is_over:
            return
        self._spend(at_ms)
        useless = MILESTONES[1:] if transcript else _OF_ANSWER
        self._known.difference_update(useless)
        self._ahead.difference_update(STAGES[MILESTONES.index(useless[0]) :])
        if self._stage not in ("settling", "recognizing"):
            self._chart.send("retract")
            self._pass(frozenset())

    def give_up(self, why: NoAnswer, at_ms: float) -> bool:
        """There will be no answer to this turn.

        Returns:
            Whether that is news: the time for a report.
        """
        if self.is_over:
            return False
        self._spend(at_ms)
        self._no_answer = why
        self._chart.send("give_up")
        return True

    def waits_for(self, what: Wait) -> None:
        """What the answer depends on is not there: name it, for the reason of the report."""
        self._waited_for = what

    def took(
        self,
        *,
        stt_ms: float | None = None,
        first_token_ms: float | None = None,
        first_audio_ms: float | None = None,
    ) -> None:
        """Work took so long in itself, in milliseconds; None changes nothing."""
        told = {
            "stt_ms": stt_ms,
            "first_token_ms": first_token_ms,
            "first_audio_ms": first_audio_ms,
        }
        known = {name: round(ms) for name, ms in told.items() if ms is not None}
        self._work = replace(self._work, **known)

    def report(self) -> Waterfall:
        """The times up to the last thing that was told."""
        steps = steps_of(self._spent_ms, self._ahead)
        return Waterfall(
            steps=steps,
            reason=reason_of(steps, waited_for=self._waited_for, no_answer=self._no_answer),
            answered=self._chart.answered.is_active,
            work=self._work,
        )

    def _spend(self, at_ms: float) -> None:
        """The time since the last thing that was told was spent where the chart is."""
        stage = self._stage
        assert stage is not None
        now_ms = max(at_ms, self._at_ms)
        self._spent_ms[stage] += now_ms - self._at_ms
        self._at_ms = now_ms

    def _pass(self, before: frozenset[Milestone]) -> None:
        """Leave every stage of which the end is known; those in ``before`` were known ahead."""
        while (stage := self._stage) is not None and (end := _ENDS[stage]) in self._known:
            if end in before and not self._spent_ms[stage]:
                self._ahead.add(stage)
            if end == "word":
                self._chart.send(end, spoken=self._spoken)
            else:
                self._chart.send(end)
            if self._stage is not None:
                self._spent_ms.setdefault(self._stage, 0.0)
