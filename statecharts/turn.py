"""Life cycle of one turn: what the user says in one go, and whether it gets an answer."""

from __future__ import annotations

from dataclasses import dataclass

from statemachine import State

from statecharts.base import Effect, StrictChart


@dataclass(frozen=True, slots=True)
class Announce(Effect):
    """The user has the floor: tell the client, and stop the answer that is being given."""


@dataclass(frozen=True, slots=True)
class Guess(Effect):
    """There is a short pause: transcribe what was said so far, in case that is all."""


@dataclass(frozen=True, slots=True)
class DropGuess(Effect):
    """That was not all: forget the guess, and the answer to it."""


@dataclass(frozen=True, slots=True)
class Draft(Effect):
    """The words so far are known: begin to answer them where nobody can see it."""


@dataclass(frozen=True, slots=True)
class KeepGuess(Effect):
    """That was all: the guess is the transcript, whether it is there already or on its way."""


@dataclass(frozen=True, slots=True)
class Transcribe(Effect):
    """Send the utterance to speech recognition."""


@dataclass(frozen=True, slots=True)
class Answer(Effect):
    """Start a response to the utterance."""


class TurnChart(StrictChart):
    """Suspected, heard, committed, transcribed, and then answered or not.

    Promises: nobody is told of a turn before it is sure that the user wants the floor, and
    then once; what was done ahead is dropped as soon as the user goes on, and kept only if
    nothing was said after it. A turn asks for at most one answer, and only for words that
    were really heard (noise that transcribes to nothing is not answered). A turn that the
    user has talked past gets its transcript, but no answer of its own: the next turn's
    answer covers both.

    {statechart:rst}
    """

    suspected = State("suspected", initial=True)
    judging = State("judging")
    hearing = State("hearing")
    guessing = State("guessing")
    guessed = State("guessed")
    transcribing = State("transcribing")
    overtaken = State("overtaken")
    answering = State("answering", final=True)
    silent = State("silent", final=True)
    discarded = State("discarded", final=True)

    confirm = suspected.to(hearing, on="announce") | judging.to(guessing, on="announce")
    pause = suspected.to(judging, on="guess") | hearing.to(guessing, on="guess")
    resume = (
        judging.to(suspected, on="drop_guess")
        | guessing.to(hearing, on="drop_guess")
        | guessed.to(hearing, on="drop_guess")
    )
    known = (
        judging.to(guessed, cond="is_wanted", on="announce")
        | judging.to(discarded)
        | guessing.to(guessed)
    )
    missed = judging.to(hearing, on="announce") | guessing.to(hearing)
    commit = (
        suspected.to(transcribing, cond="wants_answer", on="transcribe")
        | suspected.to(overtaken, on="transcribe")
        | hearing.to(transcribing, cond="wants_answer", on="transcribe")
        | hearing.to(overtaken, on="transcribe")
        | guessing.to(transcribing, cond="wants_answer", on="keep_guess")
        | guessing.to(overtaken, on="keep_guess")
        | guessed.to(transcribing, cond="wants_answer", on="keep_guess")
        | guessed.to(overtaken, on="keep_guess")
    )
    discard = (
        suspected.to(discarded)
        | hearing.to(discarded)
        | judging.to(discarded, on="drop_guess")
        | guessing.to(discarded, on="drop_guess")
        | guessed.to(discarded, on="drop_guess")
    )
    overtake = transcribing.to(overtaken) | overtaken.to(overtaken, internal=True)
    heard = (
        transcribing.to(answering, cond="has_words")
        | transcribing.to(silent)
        | overtaken.to(silent)
    )
    failed = transcribing.to(silent) | overtaken.to(silent)

    def is_wanted(self, *, wanted: bool) -> bool:
        """Whether the words of a short burst are more than a cough or an "mm-hmm"."""
        return wanted

    def wants_answer(self, *, answer: bool) -> bool:
        """Whether the session wants a response to this turn without being asked."""
        return answer

    def has_words(self, text: str) -> bool:
        """Whether anything was said."""
        return bool(text.strip())

    def announce(self) -> None:
        """It is sure that the user wants the floor."""
        self.emit(Announce())

    def guess(self) -> None:
        """The user pauses."""
        self.emit(Guess())

    def drop_guess(self) -> None:
        """What was done ahead is of no use."""
        self.emit(DropGuess())

    def on_enter_guessed(self) -> None:
        """What was said so far is known as text."""
        self.emit(Draft())

    def transcribe(self) -> None:
        """The utterance is complete."""
        self.emit(Transcribe())

    def keep_guess(self) -> None:
        """The utterance was complete already at the pause."""
        self.emit(KeepGuess())

    def on_enter_answering(self) -> None:
        """The turn is the assistant's now."""
        self.emit(Answer())
