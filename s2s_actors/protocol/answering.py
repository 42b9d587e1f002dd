"""The assistant's side of a dialogue: responses from their creation to their one end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UnsetType

from s2s_actors.errors import ClientError, StageError
from s2s_actors.protocol.draft import Draft
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.interruption import Interruption
from s2s_actors.protocol.mcp_calls import McpCalls
from s2s_actors.protocol.mcp_servers import McpServers
from s2s_actors.protocol.outputs import CommitWork, Count, StartGeneration, StopWork
from s2s_actors.protocol.response import (
    ErrorDetail,
    Reason,
    ResponseParams,
    StatusDetails,
    check_metadata,
)
from s2s_actors.protocol.response_plan import ResponsePlan
from s2s_actors.protocol.response_run import ResponseRun
from s2s_actors.protocol.truncation import TOO_LONG
from statecharts.response import CloseResponse, Generate

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.delivery import Segment
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.interruption import Spoken
    from s2s_actors.protocol.items import Item
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.playback import Playback
    from s2s_actors.protocol.turn_clock import TurnClock


class Answering:
    """All open responses of a session.

    Promises: at most one response of the default conversation is open; each response ends
    once; what a stage says about a response that is over changes nothing.
    """

    def __init__(
        self,
        desk: Desk,
        playback: Playback,
        *,
        on_over: Callable[[], None],
        context_tokens: int | None = None,
    ) -> None:
        """Begin with no response.

        Args:
            desk: Takes what is to be done.
            playback: Knows how far the client is in playing the answers.
            on_over: Told when a response of the default conversation has ended.
            context_tokens: What the language model can take, None if that is not known.
        """
        self._desk = desk
        self.playback = playback
        self._on_over = on_over
        self._context_tokens = context_tokens
        self._runs: dict[str, ResponseRun] = {}
        self._draft: Draft | None = None
        self._said: Spoken | None = None
        self.mcp_servers = McpServers(desk)
        self.mcp_calls = McpCalls(desk)
        self.clock: TurnClock | None = None
        """Of the latest turn, until a response answers it."""
        self.has_spoken = False
        """Whether the assistant has been heard: from then on its voice is fixed."""

    @property
    def current(self) -> ResponseRun | None:
        """The open response of the default conversation."""
        return next((run for run in self._runs.values() if run.plan.in_conversation), None)

    @property
    def has_floor(self) -> bool:
        """Whether the assistant is answering, or what it has answered is still being played."""
        return self.current is not None or self.playback.is_on

    def create(self, params: ResponseParams, *, context_ready: bool) -> ResponseRun:
        """Begin a response.

        Args:
            params: What the client asked for; an empty one for an answer of our own accord.
            context_ready: False if a transcript that the answer depends on is missing yet.
                What is said in the request itself is waited for in any case.

        Raises:
            ClientError: One is open already, or the overrides are not acceptable.
        """
        check_metadata(params.metadata, param="response.metadata")
        plan = ResponsePlan.of(params, self._desk.talk, self._desk.conversation)
        current = self.current
        if plan.in_conversation and current is not None:
            raise ClientError(
                "conversation_already_has_active_response",
                f"Conversation already has an active response in progress: {current.id}. "
                "Wait until the response is finished before creating a new one.",
            )
        run = ResponseRun(plan, self._desk, self.playback)
        if plan.in_conversation:
            run.clock, self.clock = self.clock, None
        self._runs[run.id] = run
        self.mcp_servers.prepare(plan)
        if (context_ready or not plan.reads_conversation) and not plan.unheard:
            self._generate_when_listed(run)
        return run

    def fail_at_once(self, code: str, message: str) -> None:
        """Answer with a failure what can't be answered otherwise."""
        run = self.create(ResponseParams(), context_ready=False)
        self.failed(run.id, code, message)

    def context_ready(self) -> None:
        """All transcripts are known: responses that waited for them begin to generate."""
        for run in self._waiting():
            self._generate_when_listed(run)

    def _waiting(self) -> list[ResponseRun]:
        return [run for run in self._runs.values() if run.chart.waiting.is_active]

    def _generate_when_listed(self, run: ResponseRun) -> None:
        if self.mcp_servers.ready(run.plan):
            self._advance(run, "context_ready")

    def cancel(self, response_id: str | UnsetType | None) -> None:
        """Stop a response at the client's wish.

        Raises:
            ClientError: There is no such response, or it is over.
        """
        run = self._runs.get(response_id) if isinstance(response_id, str) else self.current
        if run is None:
            raise ClientError(
                "response_cancel_not_active", "Cancellation failed: no active response found."
            )
        if run.plan.in_conversation:
            self.playback.stop()
        self._cancel(run, "client_cancelled")

    def interrupt(self) -> Interruption | None:
        """The user speaks: stop what is being said, and return what it was, if anything."""
        run = self.current
        self.drop_draft()
        if not self.has_floor:
            return None
        stopped = Interruption(
            spoken=(run.said() if run else None) or (self._said if self.playback.is_on else None),
            resumes=self._desk.conduct.resumes,
            is_owed=run is not None and run.writer.is_empty,
        )
        self.playback.stop()
        if run is not None:
            self._cancel(run, "turn_detected")
        return stopped

    def go_on(self, interruption: Interruption) -> None:
        """The interruption was none: say the rest of what was being said."""
        spoken = interruption.spoken
        if spoken is None or self.current is not None:
            return
        run = ResponseRun(spoken.plan, self._desk, self.playback, rest=interruption.rest)
        self._runs[run.id] = run
        self._advance(run, "context_ready")

    def _cancel(self, run: ResponseRun, reason: Reason) -> None:
        run.details = StatusDetails(type="cancelled", reason=reason)
        self._advance(run, "cancel")

    # --- drafts -----------------------------------------------------------------------------

    def draft(self, item: Item, clock: TurnClock | None) -> None:
        """Begin to answer an item that the conversation may get next, where nobody can see it."""
        self.drop_draft()
        plan = ResponsePlan.of(ResponseParams(), self._desk.talk, self._desk.conversation)
        if self.current is not None or not self.mcp_servers.ready(plan):
            return
        try:
            request = self._request(plan, new_id("draft"), more=(item,))
        except StageError:
            return  # the response itself will tell
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

    def _adopt(self, run: ResponseRun, request: StartGeneration) -> bool:
        """Make the draft the response, if that is what it would ask for now."""
        draft = self._draft
        if draft is None or not draft.fits(request):
            return False
        self._draft = None
        run.work_id = draft.work_id
        run.asked_ahead = draft.asked
        self._desk.put(CommitWork(draft.work_id))
        for again in draft.kept:
            again()
        return True

    # --- what the stages say --------------------------------------------------------------

    def _run(self, work_id: str, again: Callable[[], None]) -> ResponseRun | None:
        """The response that something is for; what is for the draft is kept."""
        if self._draft is not None and self._draft.work_id == work_id:
            self._draft.kept.append(again)
            return None
        return next((run for run in self._runs.values() if run.work_id == work_id), None)

    def _drafted(self, work_id: str) -> Draft | None:
        draft = self._draft
        return draft if draft is not None and draft.work_id == work_id else None

    def text(self, work_id: str, delta: str) -> None:
        """The model wrote more."""
        if run := self._run(work_id, partial(self.text, work_id, delta)):
            run.text(delta)
        elif draft := self._drafted(work_id):
            draft.written += 1
            draft.reached("word")
            self._ask_ahead(draft, draft.delivery.segments(draft.delivery.written(delta)))

    def call_started(self, work_id: str, call_id: str, name: str) -> None:
        """The model calls a function."""
        if run := self._run(work_id, partial(self.call_started, work_id, call_id, name)):
            run.end_text()
            run.reached("word", spoken=False)
            if route := run.routes.get(name):
                self.mcp_calls.begin(run, route)
            else:
                run.writer.call(call_id, name)
        elif draft := self._drafted(work_id):
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
        elif draft := self._drafted(work_id):
            draft.read, draft.written = read, written
            self._ask_ahead(draft, draft.delivery.end())

    def spoken(self, work_id: str, segment: int, pcm: bytes, *, last: bool) -> None:
        """The voice said more of a segment."""
        run = self._run(work_id, partial(self.spoken, work_id, segment, pcm, last=last))
        if pcm and (draft := self._drafted(work_id)):
            draft.reached("sound")
        if run is not None and segment in run.segments:
            run.spoken(segment, pcm, last=last)
            self._after_speech(run)

    def play_on(self) -> None:
        """The client has played some of what it got: send more."""
        if run := self.current:
            run.play_on()
            self._after_speech(run)

    def _after_speech(self, run: ResponseRun) -> None:
        if run.plan.in_conversation and run.writer.spoken_ms:
            self.has_spoken = True
        self._end_if_over(run)

    def _ask_ahead(self, draft: Draft, segments: list[Segment]) -> None:
        if segments:
            draft.reached("sentence")
        for each in draft.ask(segments):
            self._desk.put(each)

    def _end_if_over(self, run: ResponseRun) -> None:
        if not run.is_busy and run.chart.speaking.is_active:
            self._advance(run, "spoken")

    def failed(self, work_id: str, code: str, message: str) -> None:
        """A model failed in the middle of a response, or of a draft, which nobody misses."""
        if self._drafted(work_id):
            self.drop_draft()
        elif run := self._run(work_id, partial(self.failed, work_id, code, message)):
            kind = "invalid_request_error" if code == TOO_LONG else "server_error"
            error = ErrorDetail(type=kind, code=code, message=message)
            run.details = StatusDetails(type="failed", error=error)
            self._advance(run, "fail")

    def all_failed(self, code: str, message: str) -> None:
        """A stage is gone, and with it everything that it was doing."""
        self.drop_draft()
        for run in list(self._runs.values()):
            self.failed(run.work_id, code, message)

    # --- what MCP servers say --------------------------------------------------------------

    def mcp_listed(
        self, item_id: str, found: tuple[McpToolInfo, ...] | McpError, *, context_ready: bool
    ) -> None:
        """A server has told its tools or failed to; responses may have waited for that."""
        self.mcp_servers.listed(item_id, found)
        for run in self._waiting():
            if context_ready or not (run.plan.reads_conversation or run.plan.unheard):
                self._generate_when_listed(run)

    def mcp_called(self, item_id: str, result: str | McpError) -> None:
        """A call of a tool has its output, or its error."""
        for run in self._runs.values():
            if item_id in run.calls:
                self.mcp_calls.ended(run, item_id, result)
                self._end_if_over(run)
                return
        self.mcp_calls.ended_after_approval(item_id, result)

    # --- charts ----------------------------------------------------------------------------

    def _advance(self, run: ResponseRun, event: str, **data: bool) -> None:
        for effect in run.chart.fire(event, **data):
            match effect:
                case Generate():
                    self._generate(run)
                case CloseResponse(status=status):
                    self._desk.put(StopWork(run.work_id))
                    del self._runs[run.id]
                    run.close(status)
                    self._count(run)
                    if run.plan.in_conversation:
                        self._said = run.said()
                        self._on_over()
                case _:
                    raise NotImplementedError(effect)

    def _generate(self, run: ResponseRun) -> None:
        if run.rest is not None:
            self.text(run.work_id, run.rest)
            self.generated(run.work_id, cut=False, read=0, written=0)
            return
        run.reached("ready")
        run.routes = self.mcp_servers.offer(run.plan).routes
        try:
            request = self._request(run.plan, run.work_id)
        except StageError as error:
            self.failed(run.work_id, error.code, error.message)
            return
        if not self._adopt(run, request):
            self.drop_draft()
            self._desk.put(request)

    def _request(
        self, plan: ResponsePlan, work_id: str, *, more: tuple[Item, ...] = ()
    ) -> StartGeneration:
        """What to ask of the language model; with ``more`` items it is for a draft.

        Raises:
            StageError: The context is too long, and must not be cut.
        """
        offer = self.mcp_servers.offer(plan)
        items = replace(plan, tools=offer.tools).context(
            self._desk.conversation, self._context_tokens, more=more
        )
        return StartGeneration(
            response_id=work_id,
            items=items,
            instructions=plan.instructions,
            tools=offer.tools,
            tool_choice=offer.tool_choice,
            max_output_tokens=plan.answer_tokens,
            may_cut=plan.truncation != "disabled",
            speculative=bool(more),
        )

    def _count(self, run: ResponseRun) -> None:
        self._desk.put(
            Count(
                responses=1,
                input_tokens=run.read,
                output_tokens=run.written,
                audio_output_ms=run.writer.spoken_ms,
            )
        )
