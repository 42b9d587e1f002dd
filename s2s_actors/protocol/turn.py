"""One turn: an utterance with all that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.protocol.dictation import Dictation, Partials
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.items import InputAudio, Message
from statecharts.turn import TurnChart

if TYPE_CHECKING:
    from s2s_actors.protocol.entry import Entry
    from s2s_actors.protocol.interruption import Interruption
    from s2s_actors.protocol.turn_clock import TurnClock


@dataclass(slots=True, eq=False)
class Turn:
    """One utterance on its way to its transcript.

    Attributes:
        item_id: Id of its item, announced before there is one.
        chart: Where it is on its way.
        start_ms: Where it begins on the session's clock.
        dictation: Its words, as far as speech recognition has come.
        partials: What of them was told while it was said.
        length_ms: How long it is, once it is committed.
        wanted: Whether the session answers it without being asked.
        entry: Its item, once it is committed.
        content_index: Which part of its item it is.
        voice_id: Names it for speech recognition if it is part of a created message;
            a committed turn goes by its item.
        response_id: The response that it was sent with, which alone has to do with it.
        interruption: The answer that it has stopped.
        is_echo: It was the assistant's own voice: whatever was understood, nothing was said.
        clock: Takes its times from the silence that may end it.
    """

    item_id: str
    chart: TurnChart
    start_ms: int
    dictation: Dictation
    partials: Partials = field(default_factory=Partials)
    length_ms: int = 0
    wanted: bool = False
    entry: Entry | None = None
    content_index: int = 0
    voice_id: str = ""
    response_id: str | None = None
    interruption: Interruption | None = None
    is_echo: bool = False
    clock: TurnClock | None = None

    @classmethod
    def at(cls, start_ms: int) -> Turn:
        """A turn that begins at a position of the session's clock."""
        return cls(new_id("item"), TurnChart(), start_ms, Dictation(start_ms))

    @property
    def is_created(self) -> bool:
        """Whether it was not spoken into the input buffer."""
        return bool(self.voice_id)

    @property
    def is_committed(self) -> bool:
        """Whether it is complete, and waits for its words."""
        return self.chart.transcribing.is_active or self.chart.overtaken.is_active


def spoken_message(item_id: str, transcript: str | None) -> Message:
    """The item of a turn."""
    return Message(id=item_id, role="user", content=(InputAudio(transcript=transcript),))
