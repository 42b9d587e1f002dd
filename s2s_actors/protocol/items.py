"""Conversation items and their content, as they stand on the wire."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from s2s_actors.protocol.mcp_items import McpCall, McpItem

ItemStatus: TypeAlias = Literal["completed", "incomplete", "in_progress"]
Role: TypeAlias = Literal["user", "assistant", "system"]


class _Part(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """A piece of a message."""


class InputText(_Part, frozen=True, kw_only=True, tag="input_text"):
    """Text from the client or the operator."""

    text: str


class InputAudio(_Part, frozen=True, kw_only=True, tag="input_audio"):
    """The user's voice.

    ``transcript`` is null until it is known and must be present: a stock client crashes
    without the key. ``audio`` (base64) is present only in what a client sends or retrieves;
    a client that repeats what was said may have null there.
    """

    audio: str | UnsetType | None = UNSET
    transcript: str | None = None


class InputImage(_Part, frozen=True, kw_only=True, tag="input_image"):
    """A picture from the client, as a data URL."""

    image_url: str
    detail: Literal["auto", "low", "high"] | UnsetType = UNSET


class OutputText(_Part, frozen=True, kw_only=True, tag="output_text"):
    """Text that the assistant wrote."""

    text: str


class OutputAudio(_Part, frozen=True, kw_only=True, tag="output_audio"):
    """What the assistant said; ``audio`` (base64) only in what a client retrieves."""

    audio: str | UnsetType = UNSET
    transcript: str | UnsetType = UNSET


ContentPart: TypeAlias = InputText | InputAudio | InputImage | OutputText | OutputAudio


class _Item(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """An entry of the conversation. An empty ``id`` means that none has been given yet."""

    id: str = ""
    object: Literal["realtime.item"] = "realtime.item"
    status: ItemStatus = "completed"


class Message(_Item, frozen=True, kw_only=True, tag="message"):
    """Something said or written by one of the three roles."""

    role: Role
    content: tuple[ContentPart, ...]


class FunctionCall(_Item, frozen=True, kw_only=True, tag="function_call"):
    """A call that the assistant makes; ``arguments`` is JSON text."""

    name: str
    arguments: str
    call_id: str = ""


class FunctionCallOutput(_Item, frozen=True, kw_only=True, tag="function_call_output"):
    """What a call returned, as the client reports it."""

    call_id: str
    output: str


Item: TypeAlias = Message | FunctionCall | FunctionCallOutput | McpItem


class ItemReference(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    tag="item_reference",
    forbid_unknown_fields=True,
):
    """Points to an item of the conversation, in the input of one response."""

    id: str


ALLOWED_PARTS: dict[Role, tuple[type[_Part], ...]] = {
    "user": (InputText, InputAudio, InputImage),
    "assistant": (OutputText, OutputAudio),
    "system": (InputText,),
}


def text_of(item: Item) -> str:
    """The words of an item, without those that are not known yet."""
    match item:
        case Message(content=content):
            return " ".join(text for text in map(_part_text, content) if text)
        case FunctionCall(arguments=text) | FunctionCallOutput(output=text):
            return text
        case McpCall(is_over=True):
            return f"{item.arguments} {item.result}"
        case _:
            return ""


def _part_text(part: ContentPart) -> str:
    match part:
        case InputText(text=text) | OutputText(text=text):
            return text
        case InputAudio(transcript=heard):
            return heard or ""
        case OutputAudio(transcript=said):
            return "" if isinstance(said, UnsetType) else said
        case InputImage():
            return ""
