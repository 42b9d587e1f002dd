"""Live conversations with a microphone and a speaker that are made of code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.client.live import converse_live
from s2s_actors.client.playback import Playback
from s2s_actors.client.record import Closed, Record
from tests.support.fake_realtime import (
    Close,
    Expect,
    FakeRealtime,
    Hear,
    answer,
    opening,
    utterance,
)
from tests.support.sound import tone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from s2s_actors.client.record import Event

FRAME = tone(20)


@dataclass
class Headset:
    """Says the same frame again and again, and listens to 100 ms of each answer."""

    playback: Playback = field(default_factory=Playback)
    heard: bytes = b""

    async def frames(self) -> AsyncIterator[bytes]:
        while True:
            yield FRAME
            await asyncio.sleep(0)

    def listen(self, event: Event) -> None:
        if event.type == "response.output_audio.done":
            self.heard += self.playback.take(100 * 48)


def test_speaking_stops_the_answer_and_tells_how_much_was_heard() -> None:
    pcm = tone(1000, hz=880)
    script = [
        *opening(),
        *utterance(1, "Tell me a story.", stop_after_ms=100),
        *answer(1, ["Once upon a time"], pcm),
        Hear(500),
        *utterance(2, "Stop!", stop_after_ms=600),
        Expect("conversation.item.truncate"),
        Close(1000, "bye"),
    ]
    headset, record = Headset(), Record()
    with FakeRealtime(script) as server:
        asyncio.run(converse_live(server.url, headset, record, headset.listen, timeout_s=5.0))
    assert headset.heard == pcm[: 100 * 48]
    assert headset.playback.take(4) == bytes(4)
    (truncate,) = [e for e in server.received if e["type"] == "conversation.item.truncate"]
    assert truncate["item_id"] == "item_a1"
    assert truncate["audio_end_ms"] == 100
    assert record.closed == Closed(1000, "bye")


def test_what_the_microphone_hears_reaches_the_server() -> None:
    script = [*opening(), Hear(100), Close()]
    with FakeRealtime(script) as server:
        asyncio.run(converse_live(server.url, Headset(), Record(), lambda _: None, timeout_s=5.0))
    assert bytes(server.heard).startswith(FRAME * 5)


def test_a_server_that_takes_no_settings_hears_nothing() -> None:
    record = Record()
    with FakeRealtime(opening()[:1]) as server:
        asyncio.run(converse_live(server.url, Headset(), record, lambda _: None, timeout_s=0.2))
    assert record.gave_up_after_s == 0.2
    assert server.heard == b""
