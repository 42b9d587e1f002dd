"""Where the client is in playing what was sent: nobody tells, so a clock reckons it.

A client plays what it gets at once and in real time, and waits when it has nothing left. The
reckoning leaves out the way over the network and the client's own buffer, so it is ahead of
what is heard by some tens of milliseconds; a client that knows better says so with
``conversation.item.truncate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.protocol import audio
from s2s_actors.protocol.outputs import ExpectEcho

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.entry import Entry

_SAMPLES_PER_MS = audio.WIRE_RATE_HZ // 1000


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Audio of one item that plays without a gap from ``at_ms``."""

    entry: Entry
    at_ms: float
    length_ms: float


class Playback:
    """The client's loudspeaker.

    Promises: audio plays in the order in which it was sent, each piece once, none before it
    was sent.
    """

    def __init__(self, desk: Desk, heard_samples: Callable[[], int]) -> None:
        """Begin in silence.

        Args:
            desk: Knows the time, and takes what the microphone has to expect.
            heard_samples: Samples that have come from the user's microphone by now.
        """
        self._desk = desk
        self._heard_samples = heard_samples
        self._until_ms = 0.0
        self._stretches: list[_Stretch] = []

    @property
    def ahead_ms(self) -> float:
        """How much of what was sent has not been played yet."""
        return max(0.0, self._until_ms - self._desk.now_ms)

    @property
    def is_on(self) -> bool:
        """Whether something plays."""
        return self.ahead_ms > 0

    def is_playing(self, entry: Entry) -> bool:
        """Whether an item is the one that is heard now."""
        now_ms = self._desk.now_ms
        return any(
            each.entry is entry and each.at_ms <= now_ms < each.at_ms + each.length_ms
            for each in self._stretches
        )

    def sent(self, entry: Entry, pcm: bytes) -> None:
        """The client gets more audio of an item."""
        now_ms = self._desk.now_ms
        self._stretches = [each for each in self._stretches if self._left_ms(each) > 0]
        at_ms = max(now_ms, self._until_ms)
        length_ms = len(pcm) / audio.BYTES_PER_MS
        self._stretches.append(_Stretch(entry, at_ms, length_ms))
        self._until_ms = at_ms + length_ms
        if self._desk.conduct.ignores_echo:
            at_sample = self._heard_samples() + round((at_ms - now_ms) * _SAMPLES_PER_MS)
            self._desk.put(ExpectEcho(pcm, at_sample))

    def stop(self) -> None:
        """The client plays no more: what has not been played by now was not heard."""
        unheard: dict[int, tuple[Entry, float]] = {}
        for stretch in self._stretches:
            _, before_ms = unheard.get(id(stretch.entry), (stretch.entry, 0.0))
            unheard[id(stretch.entry)] = stretch.entry, before_ms + self._left_ms(stretch)
        for entry, left_ms in unheard.values():
            told = entry.heard_ms is not None  # the client knows better
            if left_ms and not told and self._desk.conduct.knows_playback:
                entry.hear_up_to(max(0, int(entry.length_ms - left_ms)))
        if self.is_on and self._desk.conduct.ignores_echo:
            self._desk.put(ExpectEcho(b"", self._heard_samples()))
        self._stretches.clear()
        self._until_ms = 0.0

    def _left_ms(self, stretch: _Stretch) -> float:
        played_ms = min(stretch.length_ms, max(0.0, self._desk.now_ms - stretch.at_ms))
        return stretch.length_ms - played_ms
