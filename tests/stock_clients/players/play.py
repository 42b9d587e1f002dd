"""What the players in Python share: the turns to play, a microphone, and the report.

Nothing here comes from the server: a player runs in an environment that does not have it.
"""

from __future__ import annotations

import array
import asyncio
import json
import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."
WEATHER_QUESTION = "What is the weather in Paris?"
WEATHER = "22 degrees and sunny"
WEATHER_ANSWER = f"It is {WEATHER}."
STORY_QUESTION = "Tell me a story."
LAST_ANSWER = "You said: Stop, please."

RATE_HZ = 24_000
PIECE_MS = 20
# Faster than a microphone: nothing on the way looks at the clock on the wall.
PIECE_EVERY_S = 0.005
SPEECH_MS = 600
PATIENCE_S = 60.0

Report = dict[str, Any]


class Microphone:
    """Sends silence, and speech when told to, piece by piece, until cancelled."""

    def __init__(self) -> None:
        self._speech_pieces = 0
        self._position = 0

    def speak(self) -> None:
        """Let the user speak."""
        self._speech_pieces = SPEECH_MS // PIECE_MS

    async def pieces(self) -> AsyncIterator[bytes]:
        """PCM of 24 kHz, 16 bit, mono."""
        count = RATE_HZ * PIECE_MS // 1000
        while True:
            if self._speech_pieces:
                self._speech_pieces -= 1
                times = range(self._position, self._position + count)
                wave = (int(9000 * math.sin(math.tau * 440 * t / RATE_HZ)) for t in times)
                yield array.array("h", wave).tobytes()
            else:
                yield bytes(2 * count)
            self._position += count
            await asyncio.sleep(PIECE_EVERY_S)


class Log:
    """What the client has told its application so far."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Any]] = []
        self._news = asyncio.Event()

    def note(self, kind: str, what: Any = None) -> None:
        """Write down that something happened."""
        self.notes.append((kind, what))
        self._news.set()

    def of(self, kind: str) -> list[Any]:
        """All that was noted of this kind."""
        return [what for each, what in self.notes if each == kind]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for a note that makes this true."""
        while not true():
            self._news.clear()
            await self._news.wait()

    async def until_noted(self, kind: str, times: int = 1) -> None:
        """Wait for the n-th note of a kind."""
        await self.until(lambda: len(self.of(kind)) >= times)


def main(play: Callable[[str, Log], Coroutine[Any, Any, Report]]) -> None:
    """Play against the server whose address is the only argument; print the report."""
    log = Log()

    async def bounded() -> Report:
        async with asyncio.timeout(PATIENCE_S):
            return await play(sys.argv[1], log)

    try:
        report = asyncio.run(bounded())
    except TimeoutError:
        sys.exit(f"stuck after: {log.notes[-40:]}")
    sys.stdout.write(json.dumps(report) + "\n")
