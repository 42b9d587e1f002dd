"""What the language model and the voice say, and what it does to the answer that it is for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from s2s_actors.protocol.response import ErrorDetail, StatusDetails
from s2s_actors.protocol.truncation import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from s2s_actors.protocol.delivery import Segment
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.draft import Draft
    from s2s_actors.protocol.mcp_calls import McpCalls
    from s2s_actors.protocol.open_answers import OpenAnswers
    from s2s_actors.protocol.response_run import ResponseRun

    class Advance(Protocol):
        """Sends an event to the chart of a response, and does what it asks for."""

        def __call__(self, run: ResponseRun, event: str, **data: bool) -> None:
            """Send it."""


class StageResults:
    """Takes in what the stages have made.

    Promises: what is for a response that is over changes nothing; what is for a draft is kept
    as it came, and changes nothing that anyone can see.
    """

    def __init__(
        self, desk: Desk, answers: OpenAnswers, mcp_calls: McpCalls, advance: Advance
    ) -> None:
        """Wait for the first answer.

        Args:
            desk: Takes what is to be done.
            answers: Those that are open.
            mcp_calls: Begins calls of MCP tools.
            advance: Moves a response on.
        """
        self._desk = desk
        self._answers = answers
        self._mcp_calls = mcp_calls
        self._advance = advance
        self.has_spoken = False
        """Whether the assistant has been heard: from then on its voice is fixed."""

    def text(self, work_id: str, delta: str) -> None:
        """The model wrote more."""
        if run := self._run(work_id, partial(self.text, work_id, delta)):
            run.text(delta)
        elif draft := self._answers.draft(work_id):
            draft.written += 1
            draft.reached("word")
            self._ask_ahead(draft, draft.delivery.segments(draft.delivery.written(delta)))

    def call_started(self, work_id: str, call_id: str, name: str) -> None:
        """The model calls a function."""
        if run := self._run(work_id, partial(self.call_started, work_id, call_id, name)):
            run.end_text()
            run.reached("word", spoken=False)
            if route := run.routes.get(name):
                self._mcp_calls.begin(run, route)
            else:
                run.writer.call(call_id, name)
        elif draft := self._answers.draft(work_id):
            self._ask_ahead(draft, draft.delivery.end())

    def call_arguments(self, work_id: str, delta: str) -> None:
        """The model wrote more of a call's arguments."""
        if run := self._run(work_id, partial(self.call_arguments, work_id, delta)):
            run.writer.arguments(delta)

    def generated(self, work_id: str, *, cut: bool, read: int, written: int) -> None:
        """The model is done."""
        again = partial(self.generated, work_id, cut=cut, read=read, written=written)
        if run := self._run(work_id, again):
            run.read, run.written = read, written
            run.end_text()
            run.writer.end_item(cut=cut)
            if cut:
                run.details = StatusDetails(type="incomplete", reason="max_output_tokens")
            self._advance(run, "generated", speech_left=run.is_busy, cut=cut)
        elif draft := self._answers.draft(work_id):
            draft.read, draft.written = read, written
            self._ask_ahead(draft, draft.delivery.end())

    def spoken(self, work_id: str, segment: int, pcm: bytes, *, last: bool) -> None:
        """The voice said more of a segment."""
        run = self._run(work_id, partial(self.spoken, work_id, segment, pcm, last=last))
        if pcm and (draft := self._answers.draft(work_id)):
            draft.reached("sound")
        if run is not None and segment in run.segments:
            run.spoken(segment, pcm, last=last)
            self._after_speech(run)

    def play_on(self) -> None:
        """The client has played some of what it got: send more."""
        if run := self._answers.current:
            run.play_on()
            self._after_speech(run)

    def _after_speech(self, run: ResponseRun) -> None:
        if run.plan.in_conversation and run.writer.spoken_ms:
            self.has_spoken = True
        self.end_if_over(run)

    def _ask_ahead(self, draft: Draft, segments: list[Segment]) -> None:
        if segments:
            draft.reached("sentence")
        for each in draft.ask(segments):
            self._desk.put(each)

    def end_if_over(self, run: ResponseRun) -> None:
        """End a response of which nothing is left to be spoken or called."""
        if not run.is_busy and run.chart.speaking.is_active:
            self._advance(run, "spoken")

    def failed(self, work_id: str, code: str, message: str) -> None:
        """A model failed in the middle of a response, or of a draft, which nobody misses."""
        if self._answers.draft(work_id):
            self._answers.drop_draft()
        elif run := self._run(work_id, partial(self.failed, work_id, code, message)):
            kind = "invalid_request_error" if code == TOO_LONG else "server_error"
            error = ErrorDetail(type=kind, code=code, message=message)
            run.details = StatusDetails(type="failed", error=error)
            self._advance(run, "fail")

    def all_failed(self, code: str, message: str) -> None:
        """A stage is gone, and with it everything that it was doing."""
        self._answers.drop_draft()
        for run in list(self._answers.runs.values()):
            self.failed(run.work_id, code, message)

    def _run(self, work_id: str, again: Callable[[], None]) -> ResponseRun | None:
        """The response that something is for; what is for the draft is kept."""
        if draft := self._answers.draft(work_id):
            draft.kept.append(again)
            return None
        return self._answers.run(work_id)
