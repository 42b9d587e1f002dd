"""The scenario ``barge-in``: somebody speaks into a long answer, without a breath before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import Exchange, listen
from s2s_actors.client.bench.rows import BargeInRow
from s2s_actors.client.bench.scenario import Scenario
from s2s_actors.client.bench.story import STORY, STORY_SCRIPT, NoStory, begin_story, done_of, hush
from s2s_actors.client.bench.wording import words_of
from s2s_actors.client.record import AUDIO_DELTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Place, Row
    from s2s_actors.client.bench.session import Session
    from s2s_actors.client.bench.story import Story
    from s2s_actors.client.record import Event

__all__ = ["barge_in", "barge_in_row"]

_TOO_SOON_MS: Final = 1000.0
"""An answer that ends by itself within this time could hardly be stopped."""


def barge_in(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """Ask, hear 1.5 s of a long answer, then say the next clip from its first sound on."""

    async def trial(session: Session, place: Place, at_s: float) -> Row:
        number = place.number + place.session
        story = await begin_story(session, clips[number % len(clips)])
        clip = clips[(number + 1) % len(clips)].trimmed()
        made = Exchange(clip, session.microphone.say(clip.pcm))
        await listen(session, made, lambda made: _new_audio(made, story) is not None)
        row = barge_in_row(made, story, place, at_s)
        await hush(session, [*story.log, *made.log])
        return row

    return Scenario(
        name="barge-in",
        rounds=options.turns,
        trial=trial,
        instructions=STORY,
        script=STORY_SCRIPT,
    )


def barge_in_row(made: Exchange, story: Story, place: Place, at_s: float) -> BargeInRow:
    """Read what came of an interruption.

    Raises:
        NoStory: The answer ended by itself before it could be stopped.
    """
    zero_ms, old = made.begin_ms, story.response_id
    done = done_of(made.log, old)
    cancelled = done is not None and done.text("response", "status") == "cancelled"
    if done is not None and not cancelled and done.at_ms < zero_ms + _TOO_SOON_MS:
        raise NoStory("the answer ended by itself before it could be stopped")
    started = (e.at_ms for e in made.log if e.type == "input_audio_buffer.speech_started")
    started_ms = next(started, None)
    old_audio = [e for e in made.log if e.type == AUDIO_DELTA and e.text("response_id") == old]
    answer_ms = _new_audio(made, story)
    return BargeInRow(
        place=place,
        stimulus=made.clip.name,
        at_s=at_s,
        started_ms=None if started_ms is None else started_ms - zero_ms,
        cancelled_ms=done.at_ms - zero_ms if done is not None and cancelled else None,
        last_audio_ms=old_audio[-1].at_ms - zero_ms if old_audio else None,
        late_audio=_after(made, old_audio) if cancelled else 0,
        transcript=made.transcript,
        reference=made.clip.reference,
        first_word_heard=_first_word_heard(made),
        answered=answer_ms is not None,
        answer_ms=None if answer_ms is None else answer_ms - made.end_ms,
    )


def _after(made: Exchange, old_audio: list[Event]) -> int:
    """Pieces of the old answer behind its own ``response.done``."""
    response_id = old_audio[0].text("response_id") if old_audio else ""
    done = done_of(made.log, response_id)
    place = made.log.index(done) if done is not None else len(made.log)
    return sum(1 for event in made.log[place:] if event in old_audio)


def _new_audio(made: Exchange, story: Story) -> float | None:
    """Arrival of the first audio that is not of the old answer and came after the end."""
    for event in made.log:
        of_another = event.text("response_id") != story.response_id
        if event.type == AUDIO_DELTA and of_another and event.at_ms >= made.end_ms:
            return event.at_ms
    return None


def _first_word_heard(made: Exchange) -> bool | None:
    said = words_of(made.clip.reference or "")
    return said[0] in words_of(made.transcript) if said else None
