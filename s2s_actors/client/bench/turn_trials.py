"""The scenarios ``turns`` and ``pauses``: questions, whole or with somebody thinking in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import exchange, turn_row
from s2s_actors.client.bench.pausing import paused
from s2s_actors.client.bench.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Place, Row
    from s2s_actors.client.bench.session import Session

__all__ = ["PAUSES_MS", "clip_for", "pauses", "turns"]

PAUSES_MS: Final = (300, 500, 700)
"""Lengths of the pauses, taken in turn."""


def turns(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """Questions one after the other; each begins when the answer before it has played."""

    async def trial(session: Session, place: Place, at_s: float) -> Row:
        made = await exchange(session, clip_for(place, clips))
        return turn_row(made, place, at_s, first=place.number == 0)

    return Scenario(
        name="turns",
        rounds=options.turns,
        trial=trial,
        instructions=options.prompt,
    )


def clip_for(place: Place, clips: Sequence[Clip]) -> Clip:
    """What is asked there; sessions at once ask different things."""
    return clips[(place.number + place.session) % len(clips)]


def pauses(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """The same questions with a pause in the middle; all lengths of it in turn."""

    async def trial(session: Session, place: Place, at_s: float) -> Row:
        number = place.number + place.session
        pause_ms = PAUSES_MS[number % len(PAUSES_MS)]
        clip = clips[number // len(PAUSES_MS) % len(clips)]
        made = await exchange(session, paused(clip, pause_ms))
        return turn_row(made, place, at_s, first=place.number == 0, pause_ms=pause_ms)

    return Scenario(
        name="pauses",
        rounds=options.turns,
        trial=trial,
        instructions=options.prompt,
    )
