"""One exchange: something is said, and what comes back is read as a turn.

*Voice to voice* is the time from the last sample of speech, as a microphone would capture it,
to the first ``response.output_audio.delta`` on the wire. The end of speech is the one in the
recording, so a server that answers into the sentence is found out: it is *cut off*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.bench.player import play
from s2s_actors.client.bench.rows import TurnRow
from s2s_actors.client.bench.wording import word_errors
from s2s_actors.client.progress import Progress
from s2s_actors.client.record import AUDIO_DELTA, Record
from s2s_actors.client.turns import turns_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.player import Playing
    from s2s_actors.client.bench.rows import Place
    from s2s_actors.client.bench.session import Session
    from s2s_actors.client.record import Event
    from s2s_actors.client.turns import Answer, Turn

__all__ = ["Exchange", "exchange", "listen", "problem_in", "turn_row"]


@dataclass(slots=True)
class Exchange:
    """What came while and after something was said, on the clock of the microphone.

    Attributes:
        clip: What was said.
        begin_ms: Place of its first sample.
        log: Events in order of arrival.
        sent_late_ms: How late the audio with the end of speech left.
    """

    clip: Clip
    begin_ms: float
    log: list[Event] = field(default_factory=list)
    sent_late_ms: float | None = None

    @property
    def end_ms(self) -> float:
        """Place of the true end of speech."""
        return self.begin_ms + self.clip.end_ms

    @property
    def turns(self) -> list[Turn]:
        """The turns that the server made of it."""
        return [turn for turn in turns_of(Record(self.log)) if turn.stopped_ms is not None]

    @property
    def answers(self) -> list[Answer]:
        """The responses with audio, in order."""
        turns = turns_of(Record(self.log))
        return [each for turn in turns for each in turn.answers if each.audio_bytes]

    @property
    def transcript(self) -> str:
        """What was heard, parts joined."""
        return " ".join(filter(None, (turn.transcript for turn in self.turns)))

    def playing(self) -> Playing | None:
        """How the last answer would have played."""
        answers = self.answers
        return play(_pieces(self.log, answers[-1].response_id)) if answers else None


async def exchange(session: Session, clip: Clip) -> Exchange:
    """Say something and collect what comes until it is answered and the answer has played.

    Raises:
        SessionLost: The server ended the connection.
    """
    made = Exchange(clip, session.microphone.say(clip.pcm))
    await listen(session, made)
    playing = made.playing()
    if playing is not None:
        longest_ms = session.now_ms + session.timeout_s * 1000.0
        await session.collect(made.log, min(playing.ends_ms, longest_ms))
    return made


async def listen(
    session: Session, made: Exchange, enough: Callable[[Exchange], bool] = lambda _: False
) -> None:
    """Collect what comes until it is answered, there is ``enough``, or nothing happens.

    Raises:
        SessionLost: The server ended the connection.
    """
    progress = Progress(made.end_ms, session.timeout_s * 1000.0)
    while wait_ms := progress.wait_ms(session.now_ms):
        event = await session.event(session.now_ms + wait_ms)
        if event is not None:
            made.log.append(event)
            progress.add(event)
            if enough(made):
                break
    made.sent_late_ms = session.microphone.late_ms(made.end_ms)


def turn_row(
    made: Exchange, place: Place, at_s: float, *, first: bool, pause_ms: int = 0
) -> TurnRow:
    """Read an exchange as a turn, the ``first`` one of its session or a later one."""
    end_ms, answers = made.end_ms, made.answers
    early = _early(made)
    turn = made.turns[-1] if made.turns else None
    after = [each for each in answers if each.created_ms >= end_ms]
    answer = _counted(answers, after, cut_off=any(early))
    first_audio_ms = _since(end_ms, answer.first_audio_ms if answer else None)
    audio_ms = [each.first_audio_ms for each in answers if each.first_audio_ms is not None]
    errors = word_errors(made.transcript, made.clip.reference) if made.clip.reference else None
    playing = made.playing()
    return TurnRow(
        place=place,
        stimulus=made.clip.name,
        at_s=at_s,
        problem="" if answer else problem_in(made.log) or "there was no answer with audio",
        first=first,
        pause_ms=pause_ms,
        latency_ms=None if any(early) else first_audio_ms,
        recovery_ms=first_audio_ms if any(early) and after else None,
        stopped_ms=_since(end_ms, turn.stopped_ms if turn else None),
        transcript_ms=_since(end_ms, turn.transcript_ms if turn else None),
        created_ms=_since(end_ms, answer.created_ms if answer else None),
        first_text_ms=_since(end_ms, answer.first_token_ms if answer else None),
        first_audio_ms=first_audio_ms,
        done_ms=_since(end_ms, answer.done_ms if answer else None),
        cut_off=any(early),
        answered_early=early[1],
        early_audio_ms=min((at - end_ms for at in audio_ms if at < end_ms), default=None),
        answers=len(answers),
        transcript=made.transcript,
        reference=made.clip.reference,
        words=errors.words if errors else None,
        word_errors=errors.errors if errors else None,
        audio_ms=playing.audio_ms if playing else None,
        underruns=playing.underruns if playing else None,
        stalled_ms=playing.stalled_ms if playing else None,
        lead_ms=playing.lead_ms if playing else None,
        sent_late_ms=made.sent_late_ms,
    )


def problem_in(log: list[Event]) -> str:
    """What the server complained of, empty if it did not."""
    for event in log:
        if event.type == "error":
            return f"{event.text('error', 'code')}: {event.text('error', 'message')}"
        if event.type == "response.done" and event.text("response", "status") == "failed":
            why = event.text("response", "status_details", "error", "message")
            return f"the response failed: {why or 'the server does not say why'}"
    return ""


def _early(made: Exchange) -> tuple[bool, bool]:
    """Whether the turn was committed, and whether it was answered, before the true end."""
    before = {event.type for event in made.log if made.begin_ms <= event.at_ms < made.end_ms}
    return "input_audio_buffer.committed" in before, "response.created" in before


def _counted(answers: list[Answer], after: list[Answer], *, cut_off: bool) -> Answer | None:
    """The answer that counts: after a cut-off one that knows the whole sentence."""
    preferred = after if cut_off and after else answers
    return preferred[0] if preferred else None


def _since(zero_ms: float, at_ms: float | None) -> float | None:
    return None if at_ms is None else at_ms - zero_ms


def _pieces(log: list[Event], response_id: str) -> list[tuple[float, float]]:
    return [
        (event.at_ms, duration_ms(event.audio))
        for event in log
        if event.type == AUDIO_DELTA and event.text("response_id") == response_id
    ]
