"""The answers of a session that are not over: responses, and the draft of the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol.draft import Draft
from s2s_actors.protocol.outputs import CommitWork, StopWork

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.outputs import StartGeneration
    from s2s_actors.protocol.response_plan import ResponsePlan
    from s2s_actors.protocol.response_run import ResponseRun
    from s2s_actors.protocol.turn_clock import TurnClock


class OpenAnswers:
    """Finds the answer that a stage works for.

    Promises: there is one draft at most; a draft that is not taken leaves nothing but its cost.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._draft: Draft | None = None
        self.runs: dict[str, ResponseRun] = {}
        """Open responses by their id."""

    @property
    def current(self) -> ResponseRun | None:
        """The open response of the default conversation."""
        return next((run for run in self.runs.values() if run.plan.in_conversation), None)

    @property
    def aside(self) -> int:
        """How many open responses are out of band."""
        return sum(not run.plan.in_conversation for run in self.runs.values())

    def waiting(self) -> list[ResponseRun]:
        """Responses that wait for their context."""
        return [run for run in self.runs.values() if run.chart.waiting.is_active]

    def run(self, work_id: str) -> ResponseRun | None:
        """The response that some work is for."""
        return next((run for run in self.runs.values() if run.work_id == work_id), None)

    def draft(self, work_id: str) -> Draft | None:
        """The draft that some work is for."""
        draft = self._draft
        return draft if draft is not None and draft.work_id == work_id else None

    def begin_draft(
        self, plan: ResponsePlan, request: StartGeneration, clock: TurnClock | None
    ) -> None:
        """Have the beginning of an answer made where nobody can see it."""
        self.drop_draft()
        self._draft = Draft(plan, request, plan.delivery(), clock)
        if clock is not None:
            clock.reached("ready")
        self._desk.put(request)

    def drop_draft(self) -> None:
        """The guess was wrong, or is not wanted any more."""
        draft, self._draft = self._draft, None
        if draft is not None:
            self._desk.put(StopWork(draft.work_id))
            self._desk.put(draft.cost())
            if draft.clock is not None:
                draft.clock.retract()

    def adopt_draft(self, run: ResponseRun, request: StartGeneration) -> bool:
        """Make the draft a response, if that asks for just the same; else drop it.

        Returns:
            Whether nothing has to be asked of the language model any more.
        """
        draft = self._draft
        if draft is None or not draft.fits(run.plan, request):
            self.drop_draft()
            return False
        self._draft = None
        run.work_id = draft.work_id
        run.asked_ahead = draft.asked
        run.reached("settled")
        self._desk.put(CommitWork(draft.work_id))
        for again in draft.kept:
            again()
        return True
