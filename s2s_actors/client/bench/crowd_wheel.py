"""Streams of a crowd and the one clock that drives them all.

All streams have the same period, and each has its own place in it. So the pieces of all of
them are due in an order that never changes, evenly apart, and a single counter knows which one
comes next: no task sleeps for each stream, and no server gets everybody's piece in one instant.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from s2s_actors.client.bench.crowd_plan import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from s2s_actors.client.bench.crowd_frames import Speech
    from s2s_actors.client.bench.crowd_plan import Utterance

__all__ = ["Stream", "Streaming", "Wheel"]

_GRAIN_S: Final = 0.001
"""Waking up costs more than sending does: what is due within this time leaves together."""


class Streaming(Protocol):
    """Something that sends a piece when it is its turn."""

    def send(self, now_s: float) -> None:
        """Send the next piece; it is that late."""
        ...


class Stream:
    """The microphone of one session: hiss, and speech when it is time for it.

    Attributes:
        said: When the speech of each utterance left, so far.

    Args:
        write: Takes one frame and never waits.
        hiss: Frames for when nobody speaks.
        speeches: Frames of each clip.
        utterances: What is to be said when, in order. One that comes while the last is still
            being said waits for its end.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        hiss: Sequence[bytes],
        speeches: Sequence[Speech],
        utterances: Iterable[Utterance],
    ) -> None:
        self.said: list[Said] = []
        self._write = write
        self._hiss = hiss
        self._speeches = speeches
        self._waiting = deque(utterances)
        self._speech: Speech | None = None
        self._next = 0

    def send(self, now_s: float) -> None:
        """Send the next piece."""
        if self._speech is None and self._waiting and self._waiting[0].at_s <= now_s:
            self._begin(now_s)
        number = self._next
        self._next += 1
        if self._speech is None:
            self._write(self._hiss[number % len(self._hiss)])
        else:
            self._write(self._speech.frames[number])
            self._note(self._speech, number, now_s)

    def _begin(self, now_s: float) -> None:
        clip = self._waiting.popleft().clip
        self._speech = self._speeches[clip]
        self._next = 0
        self.said.append(Said(clip, now_s))

    def _note(self, speech: Speech, number: int, now_s: float) -> None:
        if number == speech.onset:
            self.said[-1].onset_s = now_s
        if number == speech.end:
            self.said[-1].end_s = now_s
        if self._next == len(speech.frames):
            self._speech = None


class Wheel:
    """Sends the pieces of all streams when they are due; a late one is caught up.

    Attributes:
        late_ms: How late each piece left that was due while :attr:`counts` was set.
        counts: Whether lateness is kept.

    Args:
        streams: In the order of their places in a period.
        piece_ms: The period.
        clock: Gives the time in seconds.
    """

    def __init__(
        self,
        streams: Sequence[Streaming],
        piece_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.late_ms = array("f")
        self.counts = False
        self._streams = streams
        self._apart_s = piece_ms / 1000.0 / len(streams)
        self._clock = clock
        self._zero_s = clock()
        self._sent = 0

    @property
    def now_s(self) -> float:
        """Seconds since the streams began."""
        return self._clock() - self._zero_s

    def send_due(self) -> float:
        """Send what is due by now; return in how many seconds the next piece will be."""
        until_s = self.now_s
        while (due_s := self._sent * self._apart_s) <= until_s:
            now_s = self.now_s
            self._streams[self._sent % len(self._streams)].send(now_s)
            if self.counts:
                self.late_ms.append((now_s - due_s) * 1000.0)
            self._sent += 1
        return due_s - self.now_s

    async def run(self) -> None:
        """Send until this task is cancelled."""
        while True:  # noqa: ASYNC110 - time is what it waits for
            await asyncio.sleep(max(_GRAIN_S, self.send_due()))
