"""How much of its conversation a session keeps, and what goes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol.items import FunctionCall, FunctionCallOutput, Item, Message
from s2s_actors.protocol.mcp_items import McpListTools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.protocol.conversation import Conversation
    from s2s_actors.protocol.entry import Entry

_MIB = 1024 * 1024
_LEFT = 0.75
"""So much of a limit is left when it had to be enforced: if each item pushed out another one,
no two requests to the language model would begin alike, and nothing it has read could be reused."""


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """Most that a session keeps of its conversation.

    Attributes:
        audio_bytes: Audio of all items, as PCM at 24 kHz; 64 MiB are 23 minutes.
        items: How many there are.
        text_bytes: Everything else of them, pictures included, as JSON.
    """

    audio_bytes: int = 64 * _MIB
    items: int = 2000
    text_bytes: int = 16 * _MIB


USUAL = HistoryLimits()
"""What is kept unless the operator says otherwise."""


class History:
    """Holds a conversation to its limits.

    Promises: after :meth:`trim` all limits hold. The oldest goes first: of the audio that of
    whole items, whose words stay; of the items those that a model would miss least. What was
    said at the beginning by the operator (system messages, tools of MCP servers) goes last,
    and a call never without its outputs, which no language model could make sense of.
    """

    def __init__(self, conversation: Conversation, limits: HistoryLimits) -> None:
        self._conversation = conversation
        self._limits = limits

    def check(self, entry: Entry, *, param: str) -> None:
        """Whether there is room for an item at all.

        Raises:
            ClientError: It is larger than all that may be kept.
        """
        if entry.text_bytes > self._limits.text_bytes:
            raise ClientError(
                "string_above_max_length",
                f"Invalid '{param}': a conversation holds at most {self._limits.text_bytes} bytes "
                f"of text and images, and this is {entry.text_bytes}.",
                param=param,
            )

    def trim(self) -> list[str]:
        """Drop what is too much; the ids of the items that are gone."""
        stored, limits = self._conversation.stored, self._limits
        if stored.audio_bytes > limits.audio_bytes:
            self._trim_audio(limits.audio_bytes * _LEFT)
        if len(self._conversation) > limits.items or stored.text_bytes > limits.text_bytes:
            return list(self._trim_items(limits.items * _LEFT, limits.text_bytes * _LEFT))
        return []

    def _trim_audio(self, most_bytes: float) -> None:
        for entry in self._conversation.entries():
            if self._conversation.stored.audio_bytes <= most_bytes:
                return
            if entry.audio_bytes:
                entry.let_go_of_audio()

    def _trim_items(self, most: float, most_bytes: float) -> Iterator[str]:
        stored = self._conversation.stored
        for spared in ((McpListTools, "system"), ()):
            for item in self._conversation.items():
                if len(self._conversation) <= most and stored.text_bytes <= most_bytes:
                    return
                if _kind(item) not in spared:
                    yield from self._remove(item)

    def _remove(self, item: Item) -> Iterator[str]:
        for item_id in (item.id, *self._outputs_of(item)):
            if self._conversation.find(item_id) is not None:
                self._conversation.remove(item_id)
                yield item_id

    def _outputs_of(self, item: Item) -> list[str]:
        if not isinstance(item, FunctionCall):
            return []
        return [
            each.id
            for each in self._conversation.items()
            if isinstance(each, FunctionCallOutput) and each.call_id == item.call_id
        ]


def _kind(item: Item) -> str | type[Item]:
    return item.role if isinstance(item, Message) else type(item)
