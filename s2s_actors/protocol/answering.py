"""The assistant's side of a dialogue: responses from their creation to their one end."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import UnsetType

from s2s_actors.errors import ClientError, StageError
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.interruption import Interruption
from s2s_actors.protocol.mcp_calls import McpCalls
from s2s_actors.protocol.mcp_servers import McpServers
from s2s_actors.protocol.open_answers import OpenAnswers
from s2s_actors.protocol.outputs import Count, StartGeneration, StopWork
from s2s_actors.protocol.response import (
    Reason,
    ResponseParams,
    StatusDetails,
    check_metadata,
)
from s2s_actors.protocol.response_plan import ResponsePlan
from s2s_actors.protocol.response_run import ResponseRun
from s2s_actors.protocol.stage_results import StageResults
from statecharts.response import CloseResponse, Generate

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.interruption import Spoken
    from s2s_actors.protocol.items import Item
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.mcp_servers import Offer
    from s2s_actors.protocol.playback import Playback
    from s2s_actors.protocol.turn_clock import TurnClock
    from statecharts.response import Status

MAX_ASIDE = 16
"""Responses out of band that may be open at once: each holds what it was given to read."""
_ANSWERS_KEPT = 4
_LAST_WORDS_MS = 1000
_QUESTION_MS = 4000


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
        self._open = OpenAnswers(desk)
        self._said: deque[Spoken] = deque(maxlen=_ANSWERS_KEPT)
        self.mcp_servers = McpServers(desk)
        self.mcp_calls = McpCalls(desk)
        self.results = StageResults(desk, self._open, self.mcp_calls, self._advance)
        self.clock: TurnClock | None = None
        """Of the latest turn, until a response answers it."""

    @property
    def current(self) -> ResponseRun | None:
        """The open response of the default conversation."""
        return self._open.current

    @property
    def has_floor(self) -> bool:
        """Whether the assistant is answering, or what it has answered is still being played."""
        return self.current is not None or self.playback.is_on

    @property
    def is_nearly_over(self) -> bool:
        """Whether the user may answer already: the rest of what is being said is soon played.

        The words that only keep a long answer going ("yes", "sure") are an answer then, most of
        all to a question.
        """
        run = self.current
        if run is not None and not run.is_made:
            return False
        left_ms = self.playback.ahead_ms + (run.unsent_ms if run is not None else 0)
        said = self._all_said()
        asked = bool(said) and said[-1].text.rstrip().endswith(("?", "\uff1f"))
        return left_ms <= (_QUESTION_MS if asked else _LAST_WORDS_MS)

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
        if not plan.in_conversation and self._open.aside >= MAX_ASIDE:
            raise ClientError(
                "too_many_responses",
                f"There are {MAX_ASIDE} open responses out of band already. "
                "Wait until one is finished before creating a new one.",
            )
        run = ResponseRun(plan, self._desk, self.playback)
        if plan.in_conversation:
            run.clock, self.clock = self.clock, None
        self._open.runs[run.id] = run
        self.mcp_servers.prepare(plan)
        if (context_ready or not plan.reads_conversation) and not plan.unheard:
            self._generate_when_listed(run)
        return run

    def fail_at_once(self, code: str, message: str) -> None:
        """Answer with a failure what can't be answered otherwise."""
        run = self.create(ResponseParams(), context_ready=False)
        self.results.failed(run.work_id, code, message)

    def context_ready(self) -> None:
        """All transcripts are known: responses that waited for them begin to generate."""
        for run in self._open.waiting():
            self._generate_when_listed(run)

    def _generate_when_listed(self, run: ResponseRun) -> None:
        if self.mcp_servers.ready(run.plan):
            self._advance(run, "context_ready")

    def cancel(self, response_id: str | UnsetType | None) -> None:
        """Stop a response at the client's wish.

        Raises:
            ClientError: There is no such response, or it is over.
        """
        run = self._open.runs.get(response_id) if isinstance(response_id, str) else self.current
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
            spoken=self._being_said(),
            resumes=self._desk.conduct.resumes,
            is_owed=run is not None and run.writer.is_empty,
            was_nearly_over=self.is_nearly_over,
        )
        self.playback.stop()
        if run is not None:
            self._cancel(run, "turn_detected")
        return stopped

    def _all_said(self) -> list[Spoken]:
        """What has been said of late, oldest first."""
        run = self.current
        now = run.said() if run is not None else None
        return [*self._said, now] if now is not None else [*self._said]

    def _being_said(self) -> Spoken | None:
        """What is heard now, or was sent last: several answers may wait to be played."""
        said = self._all_said()
        if playing := [each for each in said if self.playback.is_playing(each.entry)]:
            return playing[0]
        return self.current.said() if self.current is not None else None

    def go_on(self, interruption: Interruption) -> None:
        """The interruption was none: say the rest of what was being said."""
        spoken = interruption.spoken
        if spoken is None or self.current is not None:
            return
        run = ResponseRun(spoken.plan, self._desk, self.playback, rest=interruption.rest)
        self._open.runs[run.id] = run
        self._advance(run, "context_ready")

    def _cancel(self, run: ResponseRun, reason: Reason) -> None:
        run.details = StatusDetails(type="cancelled", reason=reason)
        self._advance(run, "cancel")

    # --- drafts -----------------------------------------------------------------------------

    def draft(self, item: Item, clock: TurnClock | None) -> None:
        """Begin to answer an item that the conversation may get next, where nobody can see it."""
        plan = ResponsePlan.of(ResponseParams(), self._desk.talk, self._desk.conversation)
        if self.current is not None or not self.mcp_servers.ready(plan):
            return
        try:
            offer = self.mcp_servers.offer(plan)
            request = self._request(plan, offer, new_id("draft"), more=(item,))
        except StageError:
            return  # the response itself will tell
        self._open.begin_draft(plan, request, clock)

    def drop_draft(self) -> None:
        """The guess was wrong, or is not wanted any more."""
        self._open.drop_draft()

    # --- what MCP servers say --------------------------------------------------------------

    def mcp_listed(
        self, item_id: str, found: tuple[McpToolInfo, ...] | McpError, *, context_ready: bool
    ) -> None:
        """A server has told its tools or failed to; responses may have waited for that."""
        self.mcp_servers.listed(item_id, found)
        for run in self._open.waiting():
            if context_ready or not (run.plan.reads_conversation or run.plan.unheard):
                self._generate_when_listed(run)

    def mcp_called(self, item_id: str, result: str | McpError) -> None:
        """A call of a tool has its output, or its error."""
        for run in self._open.runs.values():
            if item_id in run.calls:
                self.mcp_calls.ended(run, item_id, result)
                self.results.end_if_over(run)
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
                    del self._open.runs[run.id]
                    run.close(status)
                    self._count(run, status)
                    if run.plan.in_conversation:
                        if said := run.said():
                            self._said.append(said)
                        self._on_over()
                case _:
                    raise NotImplementedError(effect)

    def _generate(self, run: ResponseRun) -> None:
        if run.rest is not None:
            self.results.text(run.work_id, run.rest)
            self.results.generated(run.work_id, cut=False, read=0, written=0)
            return
        offer = self.mcp_servers.offer(run.plan)
        run.routes = offer.routes
        try:
            request = self._request(run.plan, offer, run.work_id)
        except StageError as error:
            self.results.failed(run.work_id, error.code, error.message)
            return
        if not (run.plan.in_conversation and self._open.adopt_draft(run, request)):
            run.reached("settled")
            run.reached("ready")
            self._desk.put(request)

    def _request(
        self, plan: ResponsePlan, offer: Offer, work_id: str, *, more: tuple[Item, ...] = ()
    ) -> StartGeneration:
        """What to ask of the language model; with ``more`` items it is for a draft.

        Raises:
            StageError: The context is too long, and must not be cut.
        """
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

    def _count(self, run: ResponseRun, status: Status) -> None:
        self._desk.put(
            Count(
                responses=1,
                input_tokens=run.read,
                output_tokens=run.written,
                audio_output_ms=run.writer.spoken_ms,
                status=status,
            )
        )
