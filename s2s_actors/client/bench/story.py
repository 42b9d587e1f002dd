"""A long answer that is still going on, for somebody to break into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.exchange import Exchange, listen, problem_in
from s2s_actors.client.record import AUDIO_DELTA
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.session import Session
    from s2s_actors.client.record import Event

__all__ = ["HEARD_MS", "STORY", "STORY_SCRIPT", "NoStory", "begin_story", "done_of", "hush"]

STORY: Final = (
    "Whatever the user says, tell a very long story, in many sentences. Never stop before you "
    "have told all of it, and never ask anything."
)
_TOLD: Final = "Once upon a time. " + " ".join(
    f"On day {number} they walked along the river until the sun went down. "
    "At night they slept under the trees, and nobody knew the way."
    for number in ("one", "two", "three", "four", "five", "six", "seven", "eight")
)
STORY_SCRIPT: Final = {"answers": [{"text": _TOLD, "token_ms": 80}]}
"""What a scripted language model does: some 200 words in 16 s, as a model of medium speed."""

HEARD_MS: Final = 1500.0
"""How long the answer has been audible when somebody breaks in."""

_HUSH_MS: Final = 3000.0


class NoStory(S2SError):  # noqa: N818 - what happened, not who is to blame
    """There was no long answer to break into."""


@dataclass(frozen=True, slots=True)
class Story:
    """An answer that goes on.

    Attributes:
        response_id: The server's name for it.
        log: What has come so far.
    """

    response_id: str
    log: list[Event]


async def begin_story(session: Session, clip: Clip) -> Story:
    """Ask, and listen until the answer has been audible for 1.5 s.

    Raises:
        NoStory: There was no audio, or the answer is over already.
        SessionLost: The server ended the connection.
    """
    made = Exchange(clip, session.microphone.say(clip.pcm))
    await listen(session, made, _audible)
    if not _audible(made):
        raise NoStory(problem_in(made.log) or "there was no answer with audio to break into")
    await session.collect(made.log, session.now_ms + HEARD_MS)
    audio = [event for event in made.log if event.type == AUDIO_DELTA]
    response_id = audio[-1].text("response_id")
    if done_of(made.log, response_id) is not None:
        raise NoStory("the answer was over before anybody could break in: it was too short")
    return Story(response_id, made.log)


def done_of(log: list[Event], response_id: str) -> Event | None:
    """The ``response.done`` of a response, None if it has not come."""
    for event in log:
        if event.type == "response.done" and event.text("response", "id") == response_id:
            return event
    return None


async def hush(session: Session, log: list[Event]) -> None:
    """Cancel whatever response still goes on, and wait for its end, for at most 3 s."""
    begun = {e.text("response", "id") for e in log if e.type == "response.created"}
    going_on = {each for each in begun if done_of(log, each) is None}
    if not going_on:
        return
    await session.send({"type": "response.cancel"})
    until_ms = session.now_ms + _HUSH_MS
    while going_on and (event := await session.event(until_ms)) is not None:
        if event.type == "response.done":
            going_on.discard(event.text("response", "id"))


def _audible(made: Exchange) -> bool:
    return any(event.type == AUDIO_DELTA and event.at_ms >= made.end_ms for event in made.log)
