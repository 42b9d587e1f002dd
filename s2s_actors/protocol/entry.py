"""An item of a conversation, with the audio that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from s2s_actors.protocol import audio
from s2s_actors.protocol.items import InputAudio, Item, Message, OutputAudio
from s2s_actors.protocol.session import AudioFormat, SessionAudio, TranscriptionAudio
from s2s_actors.protocol.transcoding import encoded

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Words and how long it took to say them: what ties text to time."""

    text: str
    length_ms: int


@dataclass(slots=True)
class Stored:
    """What some entries take together.

    Attributes:
        audio_bytes: PCM at 24 kHz.
        text_bytes: Everything else, pictures included: the items as JSON.
    """

    audio_bytes: int = 0
    text_bytes: int = 0


class Entry:
    """One item, and what does not travel with it.

    Promises: what it takes is known at any time without looking through it, and told to the
    account that it is on; audio that was let go of is still known by its length, so that
    an answer can be truncated all the same.

    Attributes:
        pieces: What an assistant message said, in order.
        spoken: Whether it is the assistant's voice, even if no sound has come of it yet.
        heard_ms: Set once it is known that nothing after it was heard.

    Args:
        item: The item as clients see it, without audio.
        pcm: Audio of its one audio part, in the wire's format.
        voices: Audio of the parts of a message that a client created, by content index.
        spoken: See above.
        keeps_audio: Whether anyone may ask for its audio later.
    """

    __slots__ = (
        "_account",
        "_item",
        "_keeps_audio",
        "_length_bytes",
        "_pcm",
        "_stored",
        "heard_ms",
        "pieces",
        "spoken",
        "voices",
    )

    def __init__(
        self,
        item: Item,
        *,
        pcm: bytes = b"",
        voices: Mapping[int, bytes] | None = None,
        spoken: bool = False,
        keeps_audio: bool = True,
    ) -> None:
        self.voices = dict(voices or {})
        self.pieces: list[SpokenPiece] = []
        self.spoken = spoken
        self.heard_ms: int | None = None
        self._item = item
        self._keeps_audio = keeps_audio
        self._length_bytes = len(pcm)
        self._pcm = bytearray(pcm if keeps_audio else b"")
        self._account: Stored | None = None
        held_bytes = len(self._pcm) + sum(map(len, self.voices.values()))
        self._stored = Stored(held_bytes, _text_bytes(item))

    # --- what it takes --------------------------------------------------------------------

    @property
    def audio_bytes(self) -> int:
        """How much audio it holds."""
        return self._stored.audio_bytes

    @property
    def text_bytes(self) -> int:
        """How much else."""
        return self._stored.text_bytes

    @property
    def length_ms(self) -> int:
        """How long the audio of its one audio part is, kept or not."""
        return audio.duration_ms(self._length_bytes)

    def put_on(self, account: Stored | None) -> None:
        """Have an account tell what it takes, from now on; None for no account."""
        for each, sign in ((self._account, -1), (account, 1)):
            if each is not None:
                each.audio_bytes += sign * self.audio_bytes
                each.text_bytes += sign * self.text_bytes
        self._account = account

    def let_go_of_audio(self) -> None:
        """Keep no audio any more, neither what it holds nor what may still come."""
        self._keeps_audio = False
        self._pcm = bytearray()
        self.voices = dict.fromkeys(self.voices, b"")
        self._grow(audio_bytes=-self.audio_bytes)

    def _grow(self, *, audio_bytes: int = 0, text_bytes: int = 0) -> None:
        for each in (self._stored, self._account):
            if each is not None:
                each.audio_bytes += audio_bytes
                each.text_bytes += text_bytes

    # --- its words ------------------------------------------------------------------------

    @property
    def item(self) -> Item:
        """The item as clients see it, without audio."""
        return self._item

    @item.setter
    def item(self, item: Item) -> None:
        self._item = item
        self._grow(text_bytes=_text_bytes(item) - self.text_bytes)

    @property
    def unheard(self) -> tuple[int, ...]:
        """Parts of a created message whose words are not known yet."""
        content = self._item.content if isinstance(self._item, Message) else ()
        return tuple(
            index
            for index, part in enumerate(content)
            if index in self.voices and isinstance(part, InputAudio) and part.transcript is None
        )

    def write_down(self, index: int, text: str) -> None:
        """Store the words of a part of the user's voice."""
        assert isinstance(self._item, Message)
        content = list(self._item.content)
        content[index] = InputAudio(transcript=text)
        self.item = replace(self._item, content=tuple(content))

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

    # --- its audio ------------------------------------------------------------------------

    def add_audio(self, pcm: bytes) -> None:
        """Store more audio, unless nothing more of it was heard."""
        if self.heard_ms is not None:
            return
        self._length_bytes += len(pcm)
        if self._keeps_audio:
            self._pcm += pcm
            self._grow(audio_bytes=len(pcm))

    def cut(self, heard_ms: int) -> None:
        """Forget what was not heard, in the audio and in the text."""
        self.heard_ms = heard_ms
        size_bytes = audio.size_bytes(heard_ms)
        self._length_bytes = min(self._length_bytes, size_bytes)
        unheard = len(self._pcm) - min(len(self._pcm), size_bytes)
        del self._pcm[size_bytes:]
        self._grow(audio_bytes=-unheard)
        self.keep(self._item)

    def hear_up_to(self, heard_ms: int) -> None:
        """Reckon that nothing after this was heard, until a client knows better."""
        self.heard_ms = heard_ms
        self.keep(self._item)

    def with_audio(self, formats: SessionAudio | TranscriptionAudio) -> Item:
        """The item with its audio in base64, in the session's formats, as retrieval shows it.

        Audio that was let go of is left out.
        """
        if not isinstance(self._item, Message):
            return self._item
        wire = formats.input.format
        if isinstance(formats, SessionAudio) and self._item.role == "assistant":
            wire = formats.output.format
        return replace(
            self._item,
            content=tuple(
                replace(part, audio=self._sound(index, wire))
                if isinstance(part, InputAudio | OutputAudio)
                else part
                for index, part in enumerate(self._item.content)
            ),
        )

    def _sound(self, index: int, wire: AudioFormat) -> str | UnsetType:
        pcm = self.voices.get(index, self._pcm)
        if self.heard_ms is not None:
            pcm = pcm[: audio.size_bytes(self.heard_ms)]
        return audio.encode(encoded(bytes(pcm), wire)) if pcm else UNSET


def _text_bytes(item: Item) -> int:
    return len(msgspec.json.encode(item))


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
