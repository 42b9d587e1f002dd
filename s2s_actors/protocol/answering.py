"""The assistant's side of a dialogue: responses from their creation to their one end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import UnsetType

from s2s_actors.errors import ClientError, StageError
from s2s_actors.protocol.mcp_calls import McpCalls
from s2s_actors.protocol.mcp_servers import McpServers
from s2s_actors.protocol.outputs import Count, StartGeneration, StartSpeech, StopWork
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

    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo


class Answering:
    """All open responses of a session.

    Promises: at most one response of the default conversation is open; each response ends
    once; what a stage says about a response that is over changes nothing.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        on_over: Callable[[ResponseRun], None],
        context_tokens: int | None = None,
    ) -> None:
        """Begin with no response.

        Args:
            desk: Takes what is to be done.
            on_over: Told when a response of the default conversation has ended.
            context_tokens: What the language model can take, None if that is not known.
        """
        self._desk = desk
        self._on_over = on_over
        self._context_tokens = context_tokens
        self._runs: dict[str, ResponseRun] = {}
        self.mcp_servers = McpServers(desk)
        self.mcp_calls = McpCalls(desk)
        self.has_spoken = False
        """Whether the assistant has been heard: from then on its voice is fixed."""

    @property
    def current(self) -> ResponseRun | None:
        """The open response of the default conversation."""
        return next((run for run in self._runs.values() if run.plan.in_conversation), None)

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
        run = ResponseRun(plan, self._desk)
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
        self._cancel(run, "client_cancelled")

    def interrupt(self) -> bool:
        """The user speaks: stop the answer, and say whether nothing of it had been given yet."""
        run = self.current
        if run is None:
            return False
        unheard = run.writer.is_empty
        self._cancel(run, "turn_detected")
        return unheard

    def _cancel(self, run: ResponseRun, reason: Reason) -> None:
        run.details = StatusDetails(type="cancelled", reason=reason)
        self._advance(run, "cancel")

    # --- what the stages say --------------------------------------------------------------

    def text(self, response_id: str, delta: str) -> None:
        """The model wrote more."""
        if run := self._runs.get(response_id):
            self._speak(run, run.text(delta))

    def call_started(self, response_id: str, call_id: str, name: str) -> None:
        """The model calls a function."""
        if run := self._runs.get(response_id):
            self._speak(run, run.end_text())
            if route := run.routes.get(name):
                self.mcp_calls.begin(run, route)
            else:
                run.writer.call(call_id, name)

    def call_arguments(self, response_id: str, delta: str) -> None:
        """The model wrote more of a call's arguments."""
        if run := self._runs.get(response_id):
            run.writer.arguments(delta)

    def generated(self, response_id: str, *, cut: bool, read: int, written: int) -> None:
        """The model is done."""
        if run := self._runs.get(response_id):
            run.read, run.written = read, written
            self._speak(run, run.end_text())
            run.writer.end_item(cut=cut)
            if cut:
                run.details = StatusDetails(type="incomplete", reason="max_output_tokens")
            self._advance(run, "generated", speech_left=run.is_busy, cut=cut)

    def spoken(self, response_id: str, segment: int, pcm: bytes, *, last: bool) -> None:
        """The voice said more of a segment."""
        run = self._runs.get(response_id)
        if run is None or segment not in run.segments:
            return
        if pcm and run.plan.in_conversation:
            self.has_spoken = True
        run.spoken(segment, pcm, last=last)
        self._end_if_over(run)

    def _end_if_over(self, run: ResponseRun) -> None:
        if not run.is_busy and run.chart.speaking.is_active:
            self._advance(run, "spoken")

    def failed(self, response_id: str, code: str, message: str) -> None:
        """A model failed in the middle of a response."""
        if run := self._runs.get(response_id):
            kind = "invalid_request_error" if code == TOO_LONG else "server_error"
            error = ErrorDetail(type=kind, code=code, message=message)
            run.details = StatusDetails(type="failed", error=error)
            self._advance(run, "fail")

    def all_failed(self, code: str, message: str) -> None:
        """A stage is gone, and with it everything that it was doing."""
        for response_id in list(self._runs):
            self.failed(response_id, code, message)

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

    def _speak(self, run: ResponseRun, pieces: list[tuple[int, str]]) -> None:
        for segment, text in pieces:
            self._desk.put(StartSpeech(run.id, segment, text, run.plan.voice, run.plan.speed))

    def _advance(self, run: ResponseRun, event: str, **data: bool) -> None:
        for effect in run.chart.fire(event, **data):
            match effect:
                case Generate():
                    self._generate(run)
                case CloseResponse(status=status):
                    self._desk.put(StopWork(run.id))
                    del self._runs[run.id]
                    run.close(status)
                    self._count(run)
                    if run.plan.in_conversation:
                        self._on_over(run)
                case _:
                    raise NotImplementedError(effect)

    def _generate(self, run: ResponseRun) -> None:
        plan = run.plan
        offer = self.mcp_servers.offer(plan)
        run.routes = offer.routes
        try:
            items = replace(plan, tools=offer.tools).context(
                self._desk.conversation, self._context_tokens
            )
        except StageError as error:
            self.failed(run.id, error.code, error.message)
            return
        self._desk.put(
            StartGeneration(
                response_id=run.id,
                items=items,
                instructions=plan.instructions,
                tools=offer.tools,
                tool_choice=offer.tool_choice,
                max_output_tokens=plan.answer_tokens,
                may_cut=plan.truncation != "disabled",
            )
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
