"""Which items of a conversation the language model gets to see.

Tokens are estimated, since the protocol does not know the model's tokenizer: four characters
of text count one, which is about right for English. A cascade reads text, so the length of
audio does not matter. Images count what they cost in OpenAI's price list at 1024 by 1024.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import UnsetType

from s2s_actors.errors import StageError
from s2s_actors.protocol.items import (
    FunctionCall,
    FunctionCallOutput,
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
from s2s_actors.protocol.session import RetentionRatio

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from s2s_actors.protocol.session import FunctionTool, Truncation

TOO_LONG = "context_length_exceeded"
"""Code of a response that fails because its context does not fit."""
CHARS_PER_TOKEN = 4
LOW_IMAGE_TOKENS, IMAGE_TOKENS = 85, 765
ANSWER_TOKENS = 200
"""Room that is left for an answer whose length the client has not limited."""


@dataclass(frozen=True, slots=True)
class Room:
    """What there is room for.

    Attributes:
        context_tokens: All that the model can take, with its answer; None if unknown.
        fixed_tokens: What is sent with every request: instructions and tools.
        answer_tokens: The longest answer, None if the client has set no limit.
    """

    context_tokens: int | None = None
    fixed_tokens: int = 0
    answer_tokens: int | None = None

    def limit_tokens(self, truncation: Truncation) -> int | None:
        """How long the items may be altogether, None for any length."""
        limits = []
        if self.context_tokens is not None:
            answer_tokens = min(self.answer_tokens or ANSWER_TOKENS, self.context_tokens // 2)
            limits.append(self.context_tokens - answer_tokens - self.fixed_tokens)
        if isinstance(truncation, RetentionRatio):
            given = truncation.token_limits
            if given and not isinstance(given.post_instructions, UnsetType):
                limits.append(given.post_instructions)
        return min(limits, default=None)


def visible(items: Sequence[Item], truncation: Truncation, room: Room) -> tuple[Item, ...]:
    """The items that the model reads: all, or the later ones.

    System messages and the latest of the others always stay. A call and its outputs go
    together, and an answer goes with the question before it. A retention ratio cuts more than
    is needed, and at the same place until the limit is reached again: what the model has read
    and cached stays a prefix of what it reads next.

    Raises:
        StageError: Truncation is disabled, and the items are too long.
    """
    limit = room.limit_tokens(truncation)
    if limit is None:
        return tuple(items)
    if truncation == "disabled":
        if sum(map(item_tokens, items)) > limit:
            raise StageError(
                TOO_LONG,
                "The conversation is too long for the model, and truncation is disabled.",
            )
        return tuple(items)
    ratio = truncation.retention_ratio if isinstance(truncation, RetentionRatio) else 1.0
    window = _Window(limit, limit * ratio)
    for item in items:
        window.add(item)
    return window.kept(items)


def item_tokens(item: Item) -> int:
    """About how many tokens an item takes."""
    tokens = text_tokens(text_of(item))
    if isinstance(item, Message):
        images = (part for part in item.content if isinstance(part, InputImage))
        tokens += sum(LOW_IMAGE_TOKENS if i.detail == "low" else IMAGE_TOKENS for i in images)
    return tokens


def text_tokens(text: str) -> int:
    """About how many tokens a text takes."""
    return -(-len(text) // CHARS_PER_TOKEN)


def fixed_tokens(instructions: str, tools: Iterable[FunctionTool]) -> int:
    """About how many tokens go with every request."""
    written = b"".join(map(msgspec.json.encode, tools)).decode()
    return text_tokens(instructions) + text_tokens(written)


@dataclass(slots=True, eq=False)
class _Unit:
    """What stays or goes as a whole: an item, or a call with its outputs."""

    is_answer: bool
    tokens: int = 0
    gone: bool = False


class _Window:
    """Plays the conversation item by item, as it grew: so a cut stays where it was made.

    Deterministic for each beginning of a conversation, without a memory of earlier cuts.
    """

    def __init__(self, limit: float, target: float) -> None:
        self._limit = limit
        self._target = target
        self._tokens = 0
        self._units: list[_Unit] = []
        self._by_call: dict[str, _Unit] = {}
        self._droppable: list[_Unit] = []

    def add(self, item: Item) -> None:
        """Take in the next item, and cut if that is too much."""
        unit = self._unit(item)
        self._units.append(unit)
        if unit.gone:
            return
        tokens = item_tokens(item)
        unit.tokens += tokens
        self._tokens += tokens
        if self._tokens > self._limit:
            self._cut(unit)

    def kept(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """What is left of the items that were added."""
        return tuple(itertools.compress(items, (not unit.gone for unit in self._units)))

    def _unit(self, item: Item) -> _Unit:
        match item:
            case (
                Message(role="system")
                | McpListTools()
                | McpApprovalRequest()
                | McpApprovalResponse()
            ):
                return _Unit(is_answer=False)  # stays, and most of these no model reads
            case FunctionCallOutput(call_id=call_id) if call_id in self._by_call:
                return self._by_call[call_id]
            case FunctionCall(call_id=call_id):
                unit = self._by_call[call_id] = _Unit(is_answer=True)
            case McpCall():
                unit = _Unit(is_answer=True)
            case Message(role=role):
                unit = _Unit(is_answer=role == "assistant")
            case _:
                unit = _Unit(is_answer=False)
        self._droppable.append(unit)
        return unit

    def _cut(self, latest: _Unit) -> None:
        if latest not in self._droppable and self._droppable:
            latest = self._droppable[-1]  # what always stays does not count
        for oldest in [unit for unit in self._droppable if unit is not latest]:
            if self._tokens <= self._target and not oldest.is_answer:
                return
            self._droppable.remove(oldest)
            oldest.gone = True
            self._tokens -= oldest.tokens
