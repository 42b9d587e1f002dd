"""The scenario ``noise``: nobody speaks, and nobody should be answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.clips import Clip
from s2s_actors.client.bench.exchange import Exchange, problem_in
from s2s_actors.client.bench.rows import NoiseRow
from s2s_actors.client.bench.scenario import Scenario
from s2s_actors.client.bench.sounds import NOISES, noise
from s2s_actors.client.bench.story import hush
from s2s_actors.client.record import Record
from s2s_actors.client.turns import turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Place, Row
    from s2s_actors.client.bench.session import Session

__all__ = ["NOISE_MS", "noises"]

NOISE_MS: Final = 6000
_WATCHED_MS: Final = 2500.0


def noises(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """Each kind of noise once on each server, shared out among the sessions."""
    del clips
    kinds = tuple(NOISES)

    async def trial(session: Session, place: Place, at_s: float) -> Row:
        kind = kinds[(place.number * options.sessions + place.session) % len(kinds)]
        clip = Clip(kind, noise(kind, NOISE_MS), 0, NOISE_MS)
        made = Exchange(clip, session.microphone.say(clip.pcm))
        await session.collect(made.log, made.end_ms + _WATCHED_MS)
        await hush(session, made.log)
        return _row(made, place, at_s)

    return Scenario(
        name="noise",
        rounds=-(-len(kinds) // options.sessions),
        trial=trial,
        instructions=options.prompt,
    )


def _row(made: Exchange, place: Place, at_s: float) -> NoiseRow:
    types = [event.type for event in made.log]
    heard = (turn.transcript for turn in turns_of(Record(made.log)))
    return NoiseRow(
        place=place,
        stimulus=made.clip.name,
        at_s=at_s,
        problem=problem_in(made.log),
        started=types.count("input_audio_buffer.speech_started"),
        responses=types.count("response.created"),
        transcripts=tuple(text for text in heard if text),
    )
