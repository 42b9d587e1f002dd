"""The conversation of a session: items in order, with the audio that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from s2s_actors.protocol.items import (
    FunctionCall,
    InputAudio,
    Item,
    Message,
    OutputAudio,
)
from s2s_actors.protocol.session import AudioFormat, SessionAudio, TranscriptionAudio
from s2s_actors.protocol.transcoding import encoded


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Words and how long it took to say them: what ties text to time."""

    text: str
    length_ms: int


@dataclass(slots=True)
class Entry:
    """One item, and what does not travel with it.

    Attributes:
        item: The item as clients see it, without audio.
        pcm: Audio of its one audio part, in the wire's format.
        voices: Audio of the parts of a message that a client created, by content index.
        pieces: What an assistant message said, in order.
        spoken: Whether it is the assistant's voice, even if no sound has come of it yet.
        heard_ms: Set once it is known that nothing after it was heard.
    """

    item: Item
    pcm: bytearray = field(default_factory=bytearray)
    voices: dict[int, bytes] = field(default_factory=dict)
    pieces: list[SpokenPiece] = field(default_factory=list)
    spoken: bool = False
    heard_ms: int | None = None

    @property
    def unheard(self) -> tuple[int, ...]:
        """Parts of a created message whose words are not known yet."""
        content = self.item.content if isinstance(self.item, Message) else ()
        return tuple(
            index
            for index, part in enumerate(content)
            if index in self.voices and isinstance(part, InputAudio) and part.transcript is None
        )

    def write_down(self, index: int, text: str) -> None:
        """Store the words of a part of the user's voice."""
        assert isinstance(self.item, Message)
        content = list(self.item.content)
        content[index] = InputAudio(transcript=text)
        self.item = replace(self.item, content=tuple(content))

    def add_audio(self, pcm: bytes) -> None:
        """Store more audio, unless nothing more of it was heard."""
        if self.heard_ms is None:
            self.pcm += pcm

    def cut(self, heard_ms: int) -> None:
        """Forget what was not heard, in the audio and in the text."""
        self.heard_ms = heard_ms
        del self.pcm[audio.size_bytes(heard_ms) :]
        self.keep(self.item)

    def hear_up_to(self, heard_ms: int) -> None:
        """Reckon that nothing after this was heard, until a client knows better."""
        self.heard_ms = heard_ms
        self.keep(self.item)

    def keep(self, item: Item) -> None:
        """Store a newer version of the item, as far as it was heard."""
        if self.heard_ms is not None and isinstance(item, Message):
            words = heard_words(self.pieces, self.heard_ms)
            item = replace(
                item,
                content=tuple(
                    replace(part, transcript=words) if isinstance(part, OutputAudio) else part
                    for part in item.content
                ),
            )
        self.item = item

    def with_audio(self, formats: SessionAudio | TranscriptionAudio) -> Item:
        """The item with its audio in base64, in the session's formats, as retrieval shows it."""
        if not isinstance(self.item, Message):
            return self.item
        wire = formats.input.format
        if isinstance(formats, SessionAudio) and self.item.role == "assistant":
            wire = formats.output.format
        return replace(
            self.item,
            content=tuple(
                replace(part, audio=self._sound(index, wire))
                if isinstance(part, InputAudio | OutputAudio)
                else part
                for index, part in enumerate(self.item.content)
            ),
        )

    def _sound(self, index: int, wire: AudioFormat) -> str | UnsetType:
        pcm = self.voices.get(index, self.pcm)
        if self.heard_ms is not None:
            pcm = pcm[: audio.size_bytes(self.heard_ms)]
        return audio.encode(encoded(bytes(pcm), wire)) if pcm else UNSET


def heard_words(pieces: list[SpokenPiece], heard_ms: int) -> str:
    """The words that fit into the time heard: whole words, evenly spread over their piece."""
    heard: list[str] = []
    for piece in pieces:
        if heard_ms >= piece.length_ms:
            heard.append(piece.text)
        elif heard_ms > 0:
            words = piece.text.split()
            heard.append(" ".join(words[: len(words) * heard_ms // piece.length_ms]))
        heard_ms -= piece.length_ms
    return " ".join(text for text in heard if text)


class Conversation:
    """Items in the order that ``previous_item_id`` defines.

    An item is in it once or not at all; a refused change leaves it as it was.
    """

    def __init__(self, conversation_id: str) -> None:
        self.id = conversation_id
        self.announced: str | None = None
        """Id of what the user is saying now: told to the client, item of nobody else."""
        self._entries: dict[str, Entry] = {}
        self._order: list[str] = []

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
        """Forget an item and its audio.

        Raises:
            ClientError: It is not there.
        """
        self.get(item_id, code="item_delete_invalid_item_id", doing="deleting")
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
        held_ms = audio.duration_ms(len(entry.pcm))
        if audio_end_ms > held_ms:
            raise ClientError(
                "invalid_value",
                f"Audio content of {held_ms}ms is already shorter than {audio_end_ms}ms.",
                param="audio_end_ms",
            )
        entry.cut(audio_end_ms)

    def has_call(self, call_id: str) -> bool:
        """Whether the assistant has made this call."""
        return any(
            isinstance(entry.item, FunctionCall) and entry.item.call_id == call_id
            for entry in self._entries.values()
        )
