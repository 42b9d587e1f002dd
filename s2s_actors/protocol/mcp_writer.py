"""Writes a response that may call tools of MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from s2s_actors.protocol import mcp_events as ev
from s2s_actors.protocol.mcp_items import McpCall, McpToolError
from s2s_actors.protocol.response_writer import ResponseWriter
from s2s_actors.protocol.server_events import OutputItemDone

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.conversation import Conversation
    from s2s_actors.protocol.entry import Entry
    from s2s_actors.protocol.items import ItemStatus
    from s2s_actors.protocol.response import Response
    from s2s_actors.protocol.response_writer import Emit, _Output

OnWritten: TypeAlias = "Callable[[int, str], None]"
"""Takes the index and the arguments of a call that is written to its end."""


class McpWriter(ResponseWriter):
    """The one writer of a response, for calls of MCP tools too.

    Promises on top: a call is announced as running before its result; when the response ends,
    no call is open but those that were left to an approval.
    """

    def __init__(self, head: Response, conversation: Conversation | None, emit: Emit) -> None:
        super().__init__(head, conversation, emit)
        self._on_written: dict[int, OnWritten] = {}
        self._running: set[int] = set()

    def open_call(self, call: McpCall, on_written: OnWritten) -> None:
        """Begin a call; ``on_written`` is told once its arguments are complete."""
        self.end_item()
        self._on_written[self._open(call).index] = on_written

    def arguments(self, delta: str) -> None:
        """Write more of the arguments of the call that was begun last."""
        output = self._outputs[-1]
        if not isinstance(output.entry.item, McpCall):
            super().arguments(delta)
            return
        output.text.append(delta)
        place = self._place(output)
        self._emit(ev.McpArgumentsDelta(**place, delta=delta, obfuscation=ev.padding()))

    def call_at(self, index: int) -> McpCall:
        """The item of a call."""
        item = self._outputs[index].entry.item
        assert isinstance(item, McpCall)
        return item

    def start_call(self, index: int) -> McpCall:
        """A call runs from now on."""
        call = self.call_at(index)
        self._running.add(index)
        self._emit(ev.McpCallInProgress(item_id=call.id, output_index=index))
        return call

    def end_call(self, index: int, final: McpCall) -> None:
        """A call that was started has its output or its error."""
        self._running.discard(index)
        event = ev.McpCallCompleted if final.output is not None else ev.McpCallFailed
        self._emit(event(item_id=final.id, output_index=index))
        self._close_call(index, final)

    def leave_open(self, index: int, approval_request_id: str) -> Entry:
        """Let a call go that has to wait for a person: its item outlives the response."""
        output = self._outputs[index]
        final = replace(self.call_at(index), approval_request_id=approval_request_id)
        output.entry.item = self._final[index] = final
        self._emit(OutputItemDone(response_id=self._head.id, output_index=index, item=final))
        return output.entry

    def _close_if_over(self, output: _Output) -> None:
        if not isinstance(output.entry.item, McpCall):
            super()._close_if_over(output)
            return
        text = self._write_down(output)
        if not output.cut:
            self._on_written.pop(output.index)(output.index, text)

    def _close_item(self, output: _Output, status: ItemStatus) -> None:
        if not isinstance(output.entry.item, McpCall):
            super()._close_item(output, status)
            return
        if output.index in self._final:
            return
        if not output.text_done:
            output.text_done = True
            self._write_down(output)
        error = McpToolError(message="The response ended before the call did.")
        final = replace(self.call_at(output.index), error=error)
        if output.index in self._running:
            self.end_call(output.index, final)
        else:
            self._close_call(output.index, final)

    def _write_down(self, output: _Output) -> str:
        text = "".join(output.text)
        output.entry.item = replace(self.call_at(output.index), arguments=text)
        self._emit(ev.McpArgumentsDone(**self._place(output), arguments=text))
        return text

    def _close_call(self, index: int, final: McpCall) -> None:
        output = self._outputs[index]
        output.entry.item = self._final[index] = final
        self._finish(output, final)
