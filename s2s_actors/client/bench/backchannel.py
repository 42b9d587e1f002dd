"""The scenario ``backchannel``: a listener hums, coughs or clicks, and wants to hear on."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.bench.clips import BACKCHANNELS, Clip, said
from s2s_actors.client.bench.exchange import Exchange
from s2s_actors.client.bench.rows import BackchannelRow
from s2s_actors.client.bench.scenario import Scenario
from s2s_actors.client.bench.sounds import BURSTS, HUMS, burst, hum
from s2s_actors.client.bench.story import STORY, STORY_SCRIPT, NoStory, begin_story, done_of, hush
from s2s_actors.client.record import AUDIO_DELTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Place, Row
    from s2s_actors.client.bench.session import Session

__all__ = ["backchannel", "backchannel_row", "small_sounds"]

_WATCHED_MS: Final = 2500.0
"""How long after the sound the answer may still be broken off."""
_RESUME_MS: Final = 2500.0
"""How long after that it may still go on."""


def backchannel(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """Ask, hear 1.5 s of a long answer, then make one small sound and listen on."""
    sounds = small_sounds()

    async def trial(session: Session, place: Place, at_s: float) -> Row:
        number = place.number + place.session
        story = await begin_story(session, clips[number % len(clips)])
        kind, clip = sounds[number % len(sounds)]
        made = Exchange(clip, session.microphone.say(clip.pcm))
        await session.collect(made.log, made.end_ms + _WATCHED_MS)
        if _cancelled_ms(made, story.response_id) is not None:
            await session.collect(made.log, session.now_ms + _RESUME_MS)
        row = backchannel_row(made, story.response_id, kind, place, at_s)
        await hush(session, [*story.log, *made.log])
        return row

    return Scenario(
        name="backchannel",
        rounds=options.turns,
        trial=trial,
        instructions=STORY,
        script=STORY_SCRIPT,
    )


def small_sounds() -> list[tuple[str, Clip]]:
    """Words and sounds in turn; hums where there is no voice to say words."""
    words = [clip.trimmed() for clip in said(BACKCHANNELS)]
    words = words or [_clip(f"hum of {length_ms} ms", hum(length_ms)) for length_ms in HUMS]
    sounds = [_clip(kind, burst(kind)) for kind in BURSTS]
    pairs = zip_longest((("word", clip) for clip in words), (("sound", clip) for clip in sounds))
    return [each for each in chain.from_iterable(pairs) if each is not None]


def backchannel_row(
    made: Exchange, response_id: str, kind: str, place: Place, at_s: float
) -> BackchannelRow:
    """Read what a small sound did to the answer ``response_id``.

    Raises:
        NoStory: The answer ended by itself before the sound was over.
    """
    done = done_of(made.log, response_id)
    cancelled_ms = _cancelled_ms(made, response_id)
    if done is not None and cancelled_ms is None and done.at_ms < made.end_ms:
        raise NoStory("the answer ended by itself before the sound was over")
    audio_followed = any(
        event.type == AUDIO_DELTA and event.text("response_id") != response_id for event in made.log
    )
    taken_for_turn = bool(made.transcript)
    return BackchannelRow(
        place=place,
        stimulus=made.clip.name,
        at_s=at_s,
        kind=kind,
        started=any(event.type == "input_audio_buffer.speech_started" for event in made.log),
        cancelled=cancelled_ms is not None,
        cancelled_ms=None if cancelled_ms is None else cancelled_ms - made.begin_ms,
        resumed=None if cancelled_ms is None else audio_followed and not taken_for_turn,
        answered=None if cancelled_ms is None else audio_followed and taken_for_turn,
        transcript=made.transcript,
    )


def _cancelled_ms(made: Exchange, response_id: str) -> float | None:
    done = done_of(made.log, response_id)
    if done is None or done.text("response", "status") != "cancelled":
        return None
    return done.at_ms


def _clip(name: str, pcm: bytes) -> Clip:
    return Clip(name, pcm, 0, round(duration_ms(pcm)))
