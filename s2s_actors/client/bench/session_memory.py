"""What one more session costs a server of our own in memory, once it has taken a turn."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import Exchange, listen
from s2s_actors.client.bench.process_usage import Meter
from s2s_actors.client.bench.seats import Seat, settings_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.seats import Server

__all__ = ["measure_memory"]

_MB: Final = 1_000_000
_WARMING_TURNS: Final = 3
"""Turns of the first session before anything is measured: models grow with their first work."""


async def measure_memory(
    server: Server, options: BenchOptions, clips: Sequence[Clip]
) -> Mapping[str, float]:
    """Let ``options.sessions`` take one turn each, one after the other, and all stay.

    Returns:
        ``session_mb`` and ``session_audio_mb``; nothing for a single session, and for a server
        that is not our own.

    Raises:
        S2SError: There was no session for one of them, or it was lost.
    """
    meter = Meter.of(server.pid)
    if meter is None or options.sessions == 1:
        return {}
    settings = settings_for(server, options, options.prompt, {})
    async with AsyncExitStack() as stack:
        seats = [Seat(server, settings, options.timeout_s) for _ in range(options.sessions)]
        for seat in seats:
            await stack.enter_async_context(seat)
        for turn in range(_WARMING_TURNS):
            await _turn(seats[0], clips[turn % len(clips)])
        before = meter.usage()
        # The same clip for all: a longer one would be the first of its length, and not free.
        audio_bytes = [await _turn(seat, clips[0]) for seat in seats[1:]]
        after = meter.usage()
    if before is None or after is None:
        return {}
    return {
        "session_mb": (after.rss_mb - before.rss_mb) / len(audio_bytes),
        "session_audio_mb": sum(audio_bytes) / len(audio_bytes) / _MB,
    }


async def _turn(seat: Seat, clip: Clip) -> int:
    """Take a turn; how many bytes of audio were said and heard."""
    session = await seat.session()
    made = Exchange(clip, session.microphone.say(clip.pcm))
    await listen(session, made)
    return len(clip.pcm) + sum(answer.audio_bytes for answer in made.answers)
