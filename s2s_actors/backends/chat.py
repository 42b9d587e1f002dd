"""What a language model reads and writes: the chat, the tools, and the pieces of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.backends.images import ImageInput


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call that the assistant made earlier in the chat; ``arguments`` is JSON text."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One entry of the chat that the model sees.

    Attributes:
        role: Who speaks; ``tool`` is the output of a function call.
        text: What is said, or the output of the call.
        images: What the user showed. A model that can't see gets a note instead
            (:func:`s2s_actors.backends.images.text_alone`).
        tool_calls: Calls made by the assistant in this message.
        call_id: For ``tool``: the call that this answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that the model may call; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """What to answer.

    Attributes:
        messages: The chat, oldest first; system messages first.
        tools: Functions on offer.
        tool_choice: ``auto``, ``none``, ``required`` or the name of one function
            (prefixed ``function:``).
        max_output_tokens: Upper bound, None for the backend's own.
        may_cut: Whether the backend may leave out the oldest messages of a chat that does not
            fit. If not, it raises ``StageError("context_length_exceeded", ...)``.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    max_output_tokens: int | None = None
    may_cut: bool = True


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the spoken answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model begins a function call."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next piece of a call's arguments (JSON text)."""

    call_id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every generation that was neither cancelled nor failed.

    Attributes:
        reason: ``stop`` (the model was done) or ``length`` (cut by the token limit).
        input_tokens: Tokens that the model read.
        output_tokens: Tokens that it wrote.
    """

    reason: Literal["stop", "length"]
    input_tokens: int
    output_tokens: int


LlmEvent: TypeAlias = TextDelta | ToolCallStarted | ToolCallDelta | Finished
