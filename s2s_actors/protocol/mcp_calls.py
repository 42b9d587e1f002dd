"""Calls of MCP tools: when they run, who has to allow them, and how they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol import mcp_events as ev
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.mcp_items import (
    McpApprovalRequest,
    McpApprovalResponse,
    McpCall,
    McpError,
    McpProtocolError,
    McpToolError,
)
from s2s_actors.protocol.outputs import StartMcpCall
from s2s_actors.protocol.server_events import ItemAdded, ItemDone
from s2s_actors.protocol.validation import nested_too_deeply

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.mcp_servers import Route
    from s2s_actors.protocol.response_run import ResponseRun

INVALID_PARAMS = -32602
"""JSON-RPC: what the model wrote are no arguments."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call that has left its response, and what it needs to run."""

    entry: Entry
    route: Route
    arguments: dict[str, Any]
    output_index: int

    @property
    def call(self) -> McpCall:
        """Its item."""
        assert isinstance(self.entry.item, McpCall)
        return self.entry.item


class McpCalls:
    """The calls of a session.

    Promises: a call that needs no approval runs while its response is open and ends before it.
    One that needs it leaves its response, which does not wait for a person; it ends once,
    when it has been refused or has run, and until then its item is open.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._asked: dict[str, _Asked] = {}
        self._allowed: dict[str, _Asked] = {}

    def begin(self, run: ResponseRun, route: Route) -> None:
        """The model begins to write a call."""
        call = McpCall(
            id=new_id("mcp"), server_label=route.server.server_label, name=route.tool.name
        )
        run.writer.open_call(call, lambda index, text: self._written(run, route, index, text))

    def _written(self, run: ResponseRun, route: Route, index: int, text: str) -> None:
        arguments = _parsed(text)
        if arguments is not None and route.needs_approval:
            self._ask(run, route, index, arguments)
            return
        call = run.writer.start_call(index)
        if arguments is None:
            error = McpProtocolError(code=INVALID_PARAMS, message="The arguments are not JSON.")
            run.writer.end_call(index, replace(call, error=error))
            return
        run.calls[call.id] = index
        self._desk.put(StartMcpCall(call.id, run.work_id, route.server, route.tool.name, arguments))

    def ended(self, run: ResponseRun, item_id: str, result: str | McpError) -> None:
        """A call of an open response has its result."""
        index = run.calls.pop(item_id)
        run.writer.end_call(index, with_result(run.writer.call_at(index), result))

    # --- approval -------------------------------------------------------------------------

    def _ask(self, run: ResponseRun, route: Route, index: int, arguments: dict[str, Any]) -> None:
        request = McpApprovalRequest(
            id=new_id("mcpr"),
            server_label=route.server.server_label,
            name=route.tool.name,
            arguments=msgspec.json.encode(arguments).decode(),
        )
        previous = self._desk.conversation.add(Entry(request))
        self._desk.send(ItemAdded(item=request, previous_item_id=previous))
        self._desk.send(ItemDone(item=request, previous_item_id=previous))
        entry = run.writer.leave_open(index, request.id)
        # Nobody can decide about a call that is gone from the conversation.
        self._asked = {key: asked for key, asked in self._asked.items() if self._is_there(asked)}
        self._asked[request.id] = _Asked(entry, route, arguments, index)

    def check(self, answer: McpApprovalResponse) -> None:
        """Whether a decision is about a call that waits for it.

        Raises:
            ClientError: It is not.
        """
        asked = self._asked.get(answer.approval_request_id)
        if asked is None or not self._is_there(asked):
            raise ClientError(
                "invalid_value",
                f"Invalid 'item.approval_request_id': no call waits for an approval of "
                f"'{answer.approval_request_id[:100]}'.",
                param="item.approval_request_id",
            )

    def decide(self, answer: McpApprovalResponse) -> None:
        """Run a call or refuse it; :meth:`check` has been asked before."""
        asked = self._asked.pop(answer.approval_request_id)
        if not answer.approve:
            reason = f": {answer.reason}" if isinstance(answer.reason, str) else ""
            message = f"The user did not approve the call{reason}."
            self._close(asked, McpToolError(message=message))
            return
        call, route = asked.call, asked.route
        self._allowed[call.id] = asked
        self._desk.send(ev.McpCallInProgress(item_id=call.id, output_index=asked.output_index))
        self._desk.put(StartMcpCall(call.id, None, route.server, route.tool.name, asked.arguments))

    def ended_after_approval(self, item_id: str, result: str | McpError) -> None:
        """A call that had left its response has its result, or nobody knows of it any more."""
        asked = self._allowed.pop(item_id, None)
        if asked is None:
            return
        event = ev.McpCallCompleted if isinstance(result, str) else ev.McpCallFailed
        self._desk.send(event(item_id=item_id, output_index=asked.output_index))
        self._close(asked, result)

    def _is_there(self, asked: _Asked) -> bool:
        return self._desk.conversation.find(asked.call.id) is asked.entry

    def _close(self, asked: _Asked, result: str | McpError) -> None:
        asked.entry.item = with_result(asked.call, result)
        # The client may have deleted the item meanwhile.
        if self._is_there(asked):
            previous = self._desk.conversation.previous_of(asked.call.id)
            self._desk.send(ItemDone(item=asked.entry.item, previous_item_id=previous))


def with_result(call: McpCall, result: str | McpError) -> McpCall:
    """The call as it has ended."""
    if isinstance(result, str):
        return replace(call, output=result)
    return replace(call, error=result)


def _parsed(text: str) -> dict[str, Any] | None:
    """Arguments as an object; a model that writes nothing means none."""
    try:
        value = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) and not nested_too_deeply(value) else None
