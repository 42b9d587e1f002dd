"""Between the protocol's conversation and the chat that a language model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from s2s_actors.backends.base import ChatMessage, LlmRequest, ToolCall, ToolSpec
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
from s2s_actors.protocol.session import FunctionChoice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.protocol.outputs import StartGeneration
    from s2s_actors.protocol.session import FunctionTool, ToolChoice

SILENCE = "(The user says nothing.)"
"""Stands for a turn without words, so that the model has something to answer."""


def request_of(work: StartGeneration) -> LlmRequest:
    """What to ask of the language model for one response."""
    messages = [*_system(work.instructions), *_messages(work.items)]
    if work.items and _is_silence(work.items[-1]):
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
    for item in items:
        if isinstance(item, FunctionCall):
            # Calls of one answer belong into one message, whatever else was said.
            calls.append(ToolCall(item.call_id, item.name, item.arguments))
            continue
        if calls:
            yield ChatMessage("assistant", "", tool_calls=tuple(calls))
            calls = []
        if isinstance(item, FunctionCallOutput):
            yield ChatMessage("tool", item.output, call_id=item.call_id)
        elif (text := text_of(item).strip()) or _images(item):
            yield ChatMessage(item.role, text, images=_images(item))
    if calls:
        yield ChatMessage("assistant", "", tool_calls=tuple(calls))


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


def _choice(choice: ToolChoice) -> str:
    return f"function:{choice.name}" if isinstance(choice, FunctionChoice) else choice
