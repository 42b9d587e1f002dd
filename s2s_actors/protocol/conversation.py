"""The conversation of a session: items in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol.entry import Entry, Stored
from s2s_actors.protocol.items import FunctionCall, Item

if TYPE_CHECKING:
    from collections.abc import Iterator


class Conversation:
    """Items in the order that ``previous_item_id`` defines.

    An item is in it once or not at all; a refused change leaves it as it was.
    """

    def __init__(self, conversation_id: str) -> None:
        self.id = conversation_id
        self.announced: str | None = None
        """Id of what the user is saying now: told to the client, item of nobody else."""
        self.stored = Stored()
        """What all items take."""
        self._entries: dict[str, Entry] = {}
        self._order: list[str] = []

    def __len__(self) -> int:
        """How many items there are."""
        return len(self._order)

    def entries(self) -> Iterator[Entry]:
        """All entries, oldest first."""
        return (self._entries[item_id] for item_id in self._order)

    def items(self) -> tuple[Item, ...]:
        """All items, oldest first."""
        return tuple(self._entries[item_id].item for item_id in self._order)

    def add(self, entry: Entry, *, after: str | None = None) -> str | None:
        """Put an item in place and return the id of its predecessor.

        Args:
            entry: The item; its id must be set and free.
            after: None for the end, ``root`` for the front, or the id to follow.

        Raises:
            ClientError: ``after`` is not in the conversation.
        """
        item_id = entry.item.id
        assert item_id not in self._entries
        place = self._place(after)
        self._entries[item_id] = entry
        entry.put_on(self.stored)
        self._order.insert(place, item_id)
        return self._order[place - 1] if place else None

    def _place(self, after: str | None) -> int:
        if after is None:
            return len(self._order)
        if after == "root":
            return 0
        if after not in self._entries:
            raise ClientError(
                "invalid_value",
                f"Invalid 'previous_item_id': the item with id '{after}' does not exist.",
                param="previous_item_id",
            )
        return self._order.index(after) + 1

    def check_free(self, item_id: str) -> None:
        """Whether a client may use an id.

        Raises:
            ClientError: It is taken.
        """
        if item_id in self._entries or (item_id and item_id == self.announced):
            raise ClientError(
                "item_id_already_exists",
                f"Invalid 'item.id': an item with id '{item_id}' exists already.",
                param="item.id",
            )

    def find(self, item_id: str) -> Entry | None:
        """The entry of an item, if it is there."""
        return self._entries.get(item_id)

    def get(self, item_id: str, *, code: str, doing: str) -> Entry:
        """The entry of an item.

        Raises:
            ClientError: It is not there; ``code`` and ``doing`` say what was tried.
        """
        entry = self._entries.get(item_id)
        if entry is None:
            raise ClientError(
                code,
                f"Error {doing} item: the item with id '{item_id}' does not exist.",
                param="item_id",
            )
        return entry

    def previous_of(self, item_id: str) -> str | None:
        """Id of the item before, None for the first one or one that is gone."""
        if item_id not in self._entries:
            return None
        place = self._order.index(item_id)
        return self._order[place - 1] if place else None

    def remove(self, item_id: str) -> None:
        """Forget an item and its audio, whoever else still holds it.

        Raises:
            ClientError: It is not there.
        """
        entry = self.get(item_id, code="item_delete_invalid_item_id", doing="deleting")
        entry.put_on(None)
        entry.let_go_of_audio()
        del self._entries[item_id]
        self._order.remove(item_id)

    def truncate(self, item_id: str, *, content_index: int, audio_end_ms: int) -> None:
        """Cut what was not heard off an assistant message.

        Raises:
            ClientError: No such item, not the assistant's audio, or nothing to cut there.
        """
        entry = self.get(item_id, code="item_truncate_invalid_item_id", doing="truncating")
        if not entry.spoken:
            raise ClientError(
                "unsupported_content_type",
                "Only model output audio messages can be truncated.",
                param="item_id",
            )
        if content_index != 0:
            raise ClientError(
                "invalid_value",
                f"Invalid 'content_index': item has no audio at index {content_index}.",
                param="content_index",
            )
        if audio_end_ms > entry.length_ms:
            raise ClientError(
                "invalid_value",
                f"Audio content of {entry.length_ms}ms is already shorter than {audio_end_ms}ms.",
                param="audio_end_ms",
            )
        entry.cut(audio_end_ms)

    def clear(self) -> None:
        """Forget everything at once: the session is over."""
        for entry in self._entries.values():
            entry.put_on(None)
            entry.let_go_of_audio()
        self._entries.clear()
        self._order.clear()

    def has_call(self, call_id: str) -> bool:
        """Whether the assistant has made this call."""
        return any(
            isinstance(entry.item, FunctionCall) and entry.item.call_id == call_id
            for entry in self._entries.values()
        )
