"""Life cycle of one turn: what the user says in one go, and whether it gets an answer."""

from __future__ import annotations

from dataclasses import dataclass

from statemachine import State

from statecharts.base import Effect, StrictChart


@dataclass(frozen=True, slots=True)
class Transcribe(Effect):
    """Send the utterance to speech recognition."""


@dataclass(frozen=True, slots=True)
class Answer(Effect):
    """Start a response to the utterance."""


class TurnChart(StrictChart):
    """Heard, committed, transcribed, and then answered or not.

    Promises: a turn asks for at most one answer, and only for words that were really heard
    (noise that transcribes to nothing is not answered). A turn that the user has talked
    past gets its transcript, but no answer of its own: the next turn's answer covers both.

    {statechart:rst}
    """

    hearing = State("hearing", initial=True)
    transcribing = State("transcribing")
    overtaken = State("overtaken")
    answering = State("answering", final=True)
    silent = State("silent", final=True)
    discarded = State("discarded", final=True)

    commit = hearing.to(transcribing, cond="wants_answer") | hearing.to(overtaken)
    discard = hearing.to(discarded)
    overtake = transcribing.to(overtaken) | overtaken.to(overtaken, internal=True)
    heard = (
        transcribing.to(answering, cond="has_words")
        | transcribing.to(silent)
        | overtaken.to(silent)
    )
    failed = transcribing.to(silent) | overtaken.to(silent)

    def wants_answer(self, *, answer: bool) -> bool:
        """Whether the session wants a response to this turn without being asked."""
        return answer

    def has_words(self, text: str) -> bool:
        """Whether anything was said."""
        return bool(text.strip())

    def on_commit(self) -> None:
        """The utterance is complete."""
        self.emit(Transcribe())

    def on_enter_answering(self) -> None:
        """The turn is the assistant's now."""
        self.emit(Answer())
