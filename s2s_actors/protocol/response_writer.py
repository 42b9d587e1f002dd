"""Writes the events of one response in the order that the protocol wants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from s2s_actors.protocol import audio
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.conversation import Conversation
from s2s_actors.protocol.entry import Entry, SpokenPiece
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.items import (
    FunctionCall,
    Item,
    ItemStatus,
    Message,
    OutputAudio,
    OutputText,
)
from s2s_actors.protocol.response import Response, StatusDetails, Usage
from s2s_actors.protocol.transcoding import WireEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from statecharts.response import Status

Emit: TypeAlias = "Callable[[ev.ServerEvent], None]"


@dataclass(slots=True)
class _Output:
    """One output item while it is written."""

    index: int
    entry: Entry
    encoder: WireEncoder
    text: list[str] = field(default_factory=list)
    text_done: bool = False
    speech_left: int = 0
    sent_bytes: int = 0
    sounded: bool = False
    cut: bool = False


class ResponseWriter:
    """The one writer of a response.

    Promises: every item and part that is opened is closed, in the documented order and
    once; the deltas of a part add up to its ``done``; ``response.done`` comes last and
    lists the items by their index. Several items may be open at once, because speech is
    slower than text.
    """

    def __init__(self, head: Response, conversation: Conversation | None, emit: Emit) -> None:
        """Start writing.

        Args:
            head: The response as ``response.created`` shows it.
            conversation: Takes the items; None for an out-of-band response.
            emit: Takes the events.
        """
        self._head = head
        self._spoken = head.output_modalities == ["audio"]
        self._conversation = conversation
        self._emit = emit
        self._outputs: list[_Output] = []
        self._final: dict[int, Item] = {}
        emit(ev.ResponseCreated(response=head))

    @property
    def spoken_ms(self) -> int:
        """How much speech has been written."""
        return audio.duration_ms(sum(output.sent_bytes for output in self._outputs))

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been written yet."""
        return not self._outputs

    @property
    def last_sounded(self) -> tuple[Entry, str] | None:
        """The last message of which some audio was written, and all of its text."""
        sounded = [output for output in self._outputs if output.sounded]
        return (sounded[-1].entry, "".join(sounded[-1].text)) if sounded else None

    def entry_at(self, index: int) -> Entry:
        """The item at an index."""
        return self._outputs[index].entry

    def text(self, delta: str) -> int:
        """Write more text and return the index of the item that it went to."""
        output = self._outputs[-1] if self._outputs else None
        if output is None or output.text_done or not isinstance(output.entry.item, Message):
            self.end_item()
            output = self._open_message()
        output.text.append(delta)
        place = self._place(output)
        if self._spoken:
            self._emit(ev.TranscriptDelta(**place, content_index=0, delta=delta))
        else:
            self._emit(ev.TextDelta(**place, content_index=0, delta=delta))
        return output.index

    def call(self, call_id: str, name: str) -> None:
        """Begin a function call."""
        self.end_item()
        item = FunctionCall(
            id=new_id("item"), status="in_progress", call_id=call_id, name=name, arguments=""
        )
        self._open(item)

    def arguments(self, delta: str) -> None:
        """Write more of the arguments of the call that was begun last."""
        output = self._outputs[-1]
        assert isinstance(output.entry.item, FunctionCall)
        output.text.append(delta)
        call_id = output.entry.item.call_id
        self._emit(ev.ArgumentsDelta(**self._place(output), call_id=call_id, delta=delta))

    def end_item(self, *, cut: bool = False) -> None:
        """No more text for the item that was begun last; it closes when its speech is out."""
        if self._outputs and not self._outputs[-1].text_done:
            output = self._outputs[-1]
            output.text_done = True
            output.cut = cut
            self._close_if_over(output)

    def expect_speech(self, index: int) -> None:
        """A piece of an item's text is on its way to the voice."""
        self._outputs[index].speech_left += 1

    def audio(self, index: int, pcm: bytes) -> None:
        """Write speech."""
        output = self._outputs[index]
        output.sent_bytes += len(pcm)
        output.entry.add_audio(pcm)
        self._sound(output, output.encoder.encode(pcm))

    def speech_done(self, index: int, piece: SpokenPiece) -> None:
        """A piece of an item's text has been spoken."""
        output = self._outputs[index]
        output.entry.pieces.append(piece)
        output.speech_left -= 1
        self._close_if_over(output)

    def speech_broken_off(self, index: int, piece: SpokenPiece) -> None:
        """A piece of an item's text was being spoken when the response ended."""
        self._outputs[index].entry.pieces.append(piece)

    def close(self, status: Status, details: StatusDetails | None, usage: Usage) -> None:
        """Close whatever is open and end the response."""
        for output in self._outputs:
            self._close_item(output, "completed" if status == "completed" else "incomplete")
            if status == "cancelled" and output.entry.spoken and output.entry.heard_ms is None:
                # Text runs ahead of speech: what was never sent as audio was not heard.
                output.entry.cut(output.entry.length_ms)
        done = replace(
            self._head,
            status=status,
            status_details=details,
            output=tuple(self._final[output.index] for output in self._outputs),
            usage=usage,
        )
        self._emit(ev.ResponseDone(response=done))
        self._emit(ev.RateLimitsUpdated())

    # --- one item -----------------------------------------------------------------------

    def _open_message(self) -> _Output:
        item = Message(id=new_id("item"), status="in_progress", role="assistant", content=())
        output = self._open(item)
        part = ev.AudioPart(transcript="") if self._spoken else ev.TextPart(text="")
        self._emit(ev.PartAdded(**self._place(output), content_index=0, part=part))
        return output

    def _open(self, item: Item) -> _Output:
        spoken = self._spoken and isinstance(item, Message)
        encoder = WireEncoder(self._head.audio.output.format)
        # Nobody can retrieve what is out of band.
        entry = Entry(item, spoken=spoken, keeps_audio=self._conversation is not None)
        output = _Output(len(self._outputs), entry, encoder)
        self._outputs.append(output)
        self._emit(
            ev.OutputItemAdded(response_id=self._head.id, output_index=output.index, item=item)
        )
        if self._conversation is not None:
            previous = self._conversation.add(output.entry)
            self._emit(ev.ItemAdded(item=item, previous_item_id=previous))
        return output

    def _sound(self, output: _Output, data: bytes) -> None:
        for piece in audio.deltas(data, output.encoder.bytes_per_ms):
            output.sounded = True
            self._emit(
                ev.AudioDelta(**self._place(output), content_index=0, delta=audio.encode(piece))
            )

    def _place(self, output: _Output) -> dict[str, Any]:
        return {
            "response_id": self._head.id,
            "item_id": output.entry.item.id,
            "output_index": output.index,
        }

    def _close_if_over(self, output: _Output) -> None:
        if output.text_done and output.speech_left == 0:
            if output.sent_bytes and output.index not in self._final:
                self._sound(output, output.encoder.encode(b"", last=True))
            self._close_item(output, "incomplete" if output.cut else "completed")

    def _close_item(self, output: _Output, status: ItemStatus) -> None:
        if output.index in self._final:
            return
        text = "".join(output.text)
        item = output.entry.item
        final: Item
        if isinstance(item, FunctionCall):
            final = replace(item, status=status, arguments=text)
            self._emit(
                ev.ArgumentsDone(
                    **self._place(output), call_id=item.call_id, name=item.name, arguments=text
                )
            )
        else:
            assert isinstance(item, Message)
            part = OutputAudio(transcript=text) if self._spoken else OutputText(text=text)
            final = replace(item, status=status, content=(part,))
            self._close_part(output, text)
        self._final[output.index] = final
        output.entry.keep(final)
        self._finish(output, final)

    def _close_part(self, output: _Output, text: str) -> None:
        place = self._place(output) | {"content_index": 0}
        part: ev.AudioPart | ev.TextPart
        if self._spoken:
            if output.sounded:
                self._emit(ev.AudioDone(**place))
            self._emit(ev.TranscriptDone(**place, transcript=text))
            part = ev.AudioPart(transcript=text)
        else:
            self._emit(ev.TextDone(**place, text=text))
            part = ev.TextPart(text=text)
        self._emit(ev.PartDone(**place, part=part))

    def _finish(self, output: _Output, final: Item) -> None:
        conversation = self._conversation
        # The client may have deleted the item meanwhile, and have used its id for another;
        # the response still tells its end.
        if conversation is not None and conversation.find(final.id) is output.entry:
            previous = conversation.previous_of(final.id)
            self._emit(ev.ItemDone(item=final, previous_item_id=previous))
        self._emit(
            ev.OutputItemDone(response_id=self._head.id, output_index=output.index, item=final)
        )
