"""The rows of a run: what was seen in each single trial, nothing summed up.

Moments are in ms from the *true end of speech* (turns, pauses) or from the *first sample of
the interruption* (barge-in, backchannels), by the energy of the recording and never by the
server's voice detection. A negative moment lies before it. None is what did not happen.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "BackchannelRow",
    "BargeInRow",
    "NoiseRow",
    "Place",
    "Row",
    "TurnRow",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which trial it was.

    Attributes:
        scenario: Name of the scenario.
        server: Name of the server in the report (A, B).
        session: Which of the sessions at once, from 0.
        number: Which trial of that session, from 0.
        warm_up: Whether it does not count.
    """

    scenario: str
    server: str
    session: int
    number: int
    warm_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A trial that could not be measured; the others add what was.

    Attributes:
        place: Which trial.
        stimulus: What was said or played.
        at_s: When the trial began, from the start of the run.
        problem: What went wrong, empty if nothing did.
    """

    place: Place
    stimulus: str
    at_s: float
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow(Row):
    """A question and its answer.

    Attributes:
        first: Whether it was the first turn of its session.
        pause_ms: Length of the pause in the sentence, 0 for none.
        latency_ms: Voice to voice: the first audio of the answer. None after a cut-off.
        recovery_ms: After a cut-off: the first audio of the answer that began after the end.
        stopped_ms: ``speech_stopped``, the last one.
        transcript_ms: The finished transcript.
        created_ms: ``response.created``.
        first_text_ms: The first piece of text.
        first_audio_ms: The first piece of audio of that answer, after a cut-off too.
        done_ms: ``response.done``.
        cut_off: Whether the turn was committed or answered before the true end.
        answered_early: Whether a response was created before the true end.
        early_audio_ms: The first audio that came before the true end.
        answers: Responses that brought audio; more than one is a restart.
        transcript: What was heard, parts joined.
        reference: What was said, None if nobody knows.
        words: Words in the reference.
        word_errors: Wrong ones in the transcript.
        audio_ms: Length of the answer.
        underruns: How often a player with a start buffer of 200 ms would have run dry.
        stalled_ms: For how long in all.
        lead_ms: Most audio that was sent and not yet played.
        sent_late_ms: How late the audio with the true end left this client.
    """

    first: bool = False
    pause_ms: int = 0
    latency_ms: float | None = None
    recovery_ms: float | None = None
    stopped_ms: float | None = None
    transcript_ms: float | None = None
    created_ms: float | None = None
    first_text_ms: float | None = None
    first_audio_ms: float | None = None
    done_ms: float | None = None
    cut_off: bool = False
    answered_early: bool = False
    early_audio_ms: float | None = None
    answers: int = 0
    transcript: str = ""
    reference: str | None = None
    words: int | None = None
    word_errors: int | None = None
    audio_ms: float | None = None
    underruns: int | None = None
    stalled_ms: float | None = None
    lead_ms: float | None = None
    sent_late_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BargeInRow(Row):
    """An interruption of a long answer.

    Attributes:
        started_ms: ``speech_started``.
        cancelled_ms: ``response.done`` of the old answer, if it says ``cancelled``.
        last_audio_ms: The last audio of the old answer.
        late_audio: Pieces of audio of the old answer after its ``response.done``.
        transcript: What was heard of the interruption.
        reference: What was said, None if nobody knows.
        first_word_heard: Whether the transcript holds the first word that was said.
        answered: Whether an answer with audio followed.
        answer_ms: Its first audio, from the true end of the interruption.
    """

    started_ms: float | None = None
    cancelled_ms: float | None = None
    last_audio_ms: float | None = None
    late_audio: int = 0
    transcript: str = ""
    reference: str | None = None
    first_word_heard: bool | None = None
    answered: bool = False
    answer_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackchannelRow(Row):
    """A short sound in a long answer that should go on.

    Attributes:
        kind: ``word``, or ``sound`` for a cough and the like.
        started: Whether ``speech_started`` came.
        cancelled: Whether the answer was cancelled.
        cancelled_ms: When.
        resumed: Whether audio followed without words having been heard, so that the server
            took it back; None if nothing was cancelled.
        answered: Whether audio followed words that had been heard, so that the sound was taken
            for a turn; None if nothing was cancelled.
        transcript: What was heard.
    """

    kind: str = "word"
    started: bool = False
    cancelled: bool = False
    cancelled_ms: float | None = None
    resumed: bool | None = None
    answered: bool | None = None
    transcript: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow(Row):
    """Noise while nobody speaks.

    Attributes:
        started: How often ``speech_started`` came.
        responses: Responses that were created.
        transcripts: What was heard and is not empty.
    """

    started: int = 0
    responses: int = 0
    transcripts: tuple[str, ...] = ()

    @property
    def fell_for_it(self) -> bool:
        """Whether the noise got an answer or words were found in it."""
        return bool(self.responses or self.transcripts)
