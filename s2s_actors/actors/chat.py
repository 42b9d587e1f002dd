"""Between the protocol's conversation and the chat that a language model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from s2s_actors.backends.chat import ChatMessage, LlmRequest, ToolCall, ToolSpec
from s2s_actors.backends.images import ImageInput
from s2s_actors.protocol.items import (
    FunctionCall,
    FunctionCallOutput,
    InputAudio,
    InputImage,
    Item,
    Message,
    text_of,
)
from s2s_actors.protocol.mcp_items import (
    McpApprovalRequest,
    McpApprovalResponse,
    McpCall,
    McpListTools,
)
from s2s_actors.protocol.mcp_servers import plain_name
from s2s_actors.protocol.session import FunctionChoice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.protocol.outputs import OfferedChoice, StartGeneration
    from s2s_actors.protocol.session import FunctionTool

SILENCE = "(The user says nothing.)"
"""Stands for a turn without words, so that the model has something to answer."""


def request_of(work: StartGeneration) -> LlmRequest:
    """What to ask of the language model for one response."""
    messages = [*_system(work.instructions), *_messages(work.items)]
    # Where noise follows what was said, there is something to answer.
    answered = not messages or messages[-1].role != "user"
    if work.items and _is_silence(work.items[-1]) and answered:
        messages.append(ChatMessage("user", SILENCE))
    return LlmRequest(
        messages=tuple(messages),
        tools=tuple(_tool(tool) for tool in work.tools),
        tool_choice=_choice(work.tool_choice),
        max_output_tokens=work.max_output_tokens,
        may_cut=work.may_cut,
    )


def _system(instructions: str) -> list[ChatMessage]:
    return [ChatMessage("system", instructions)] if instructions else []


def _messages(items: Iterable[Item]) -> Iterable[ChatMessage]:
    calls: list[ToolCall] = []
    results: list[ChatMessage] = []
    for item in items:
        # Calls of one answer belong into one message, whatever else was said.
        match item:
            case FunctionCall():
                calls.append(ToolCall(item.call_id, item.name, item.arguments))
                continue
            case McpCall(is_over=True):
                calls.append(ToolCall(item.id, plain_name(item.name), item.arguments or "{}"))
                results.append(ChatMessage("tool", item.result, call_id=item.id))
                continue
            case McpListTools() | McpApprovalRequest() | McpApprovalResponse() | McpCall():
                continue  # what a model can't read, or what has no result yet
        yield from _called(calls, results)
        calls, results = [], []
        if isinstance(item, FunctionCallOutput):
            yield ChatMessage("tool", item.output, call_id=item.call_id)
        elif (text := text_of(item).strip()) or _images(item):
            yield ChatMessage(item.role, text, images=_images(item))
    yield from _called(calls, results)


def _called(calls: list[ToolCall], results: list[ChatMessage]) -> Iterable[ChatMessage]:
    if calls:
        yield ChatMessage("assistant", "", tool_calls=tuple(calls))
        yield from results


def _images(item: Message) -> tuple[ImageInput, ...]:
    return tuple(
        ImageInput(part.image_url, "auto" if isinstance(part.detail, UnsetType) else part.detail)
        for part in item.content
        if isinstance(part, InputImage)
    )


def _is_silence(item: Item) -> bool:
    return (
        isinstance(item, Message)
        and any(isinstance(part, InputAudio) for part in item.content)
        and not text_of(item).strip()
        and not _images(item)
    )


def _tool(tool: FunctionTool) -> ToolSpec:
    description = "" if isinstance(tool.description, UnsetType) else tool.description
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    if not isinstance(tool.parameters, UnsetType):
        parameters = tool.parameters
    return ToolSpec(tool.name, description, parameters)


def _choice(choice: OfferedChoice) -> str:
    return f"function:{choice.name}" if isinstance(choice, FunctionChoice) else choice
