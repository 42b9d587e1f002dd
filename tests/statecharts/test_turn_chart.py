"""The life of a turn: announced once, guessed at unseen, one answer at most, and only to words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.turn import (
    Announce,
    Answer,
    Draft,
    DropGuess,
    Guess,
    KeepGuess,
    Transcribe,
    TurnChart,
)
from tests.statecharts.paths import PATHS, must_hold

if TYPE_CHECKING:
    from statecharts.base import Effect
    from statecharts.walk import Configuration, Edge, Memory, Stimulus

ENDS = ("answering", "silent", "discarded")
DATA: dict[str, dict[str, Any]] = {
    "known": {"wanted": True},
    "commit": {"answer": True},
    "heard": {"text": "Hi."},
}
COMMITTED = ("transcribing", "overtaken", "answering", "silent")
GUESSES = (Guess(), DropGuess(), KeepGuess())


def summary(memory: Memory, stimulus: Stimulus, effects: tuple[Effect, ...]) -> Memory:
    """All that was ever done once, and what became of the last guess: users pause for ever."""
    lasting = [*(each for each in memory if each not in GUESSES)]
    lasting += [each for each in effects if each in (Announce(), Transcribe(), Answer())]
    guess = [each for each in memory if each in GUESSES]
    if stimulus.event == "missed":
        guess = []
    for each in effects:
        if each in GUESSES:
            guess = [each] if each == Guess() else [*guess, each]
    return (*lasting, *guess)


SEEN = explore(TurnChart, ENTRIES["turn"].stimuli, watch=summary, bound=PATHS)


def count(state: Configuration, effect: Effect) -> int:
    return state.memory.count(effect)


def turn_in(*events: str) -> TurnChart:
    """A turn after some events; none of their effects is left."""
    turn = TurnChart()
    for event in events:
        turn.fire(event, **DATA.get(event, {}))
    return turn


def test_every_configuration_can_reach_an_end() -> None:
    assert SEEN.can_reach(*ENDS)


@pytest.mark.parametrize("end", ENDS)
def test_every_end_can_be_reached(end: str) -> None:
    assert SEEN.path_to(end) is not None


# --- before it is complete ------------------------------------------------------------------


def test_a_turn_is_announced_once_at_most_and_never_while_it_is_only_suspected() -> None:
    def announced(state: Configuration) -> bool:
        if state.name in ("suspected", "judging"):
            return count(state, Announce()) == 0
        if state.name in ("hearing", "guessing", "guessed"):
            return count(state, Announce()) == 1
        return count(state, Announce()) <= 1

    must_hold(SEEN.counter_state(announced))


def test_there_is_a_guess_exactly_while_the_user_pauses() -> None:
    def pending(state: Configuration) -> bool:
        guesses = [each for each in state.memory if each in GUESSES]
        pausing = state.name in ("judging", "guessing", "guessed")
        return (guesses[-1:] == [Guess()]) == pausing or state.name == "discarded"

    must_hold(SEEN.counter_state(pending))


def test_a_guess_is_dropped_or_kept_once_and_never_both() -> None:
    def ended(state: Configuration) -> bool:
        return count(state, DropGuess()) + count(state, KeepGuess()) <= 1

    must_hold(SEEN.counter_state(ended))


def test_only_known_words_are_drafted() -> None:
    must_hold(SEEN.counter_edge(lambda e: (Draft() in e.effects) == (e.target.name == "guessed")))


def test_a_short_burst_that_is_not_wanted_leaves_no_trace() -> None:
    turn = turn_in("pause")
    assert turn.fire("known", wanted=False) == []
    assert turn.state_name == "discarded"


def test_a_short_burst_with_words_takes_the_floor() -> None:
    turn = turn_in("pause")
    assert turn.fire("known", wanted=True) == [Announce(), Draft()]
    assert turn.state_name == "guessed"


def test_a_burst_that_could_not_be_understood_takes_the_floor() -> None:
    turn = turn_in("pause")
    assert turn.fire("missed") == [Announce()]
    assert turn.state_name == "hearing"


def test_a_burst_that_goes_on_is_suspected_as_before() -> None:
    turn = turn_in("pause")
    assert turn.fire("resume") == [DropGuess()]
    assert turn.state_name == "suspected"


# --- when it is complete --------------------------------------------------------------------


def test_a_turn_is_transcribed_once_unless_it_was_discarded() -> None:
    def transcribed(state: Configuration) -> bool:
        wanted = state.name in COMMITTED
        return count(state, Transcribe()) + count(state, KeepGuess()) == wanted

    must_hold(SEEN.counter_state(transcribed))


def test_a_guess_is_the_transcript_only_if_nothing_was_said_after_it() -> None:
    paused = ("guessing", "guessed")
    must_hold(SEEN.counter_edge(lambda e: KeepGuess() not in e.effects or e.source.name in paused))


def test_a_turn_asks_for_one_answer_exactly_when_it_ends_answering() -> None:
    must_hold(SEEN.counter_state(lambda s: count(s, Answer()) == (s.name == "answering")))


def test_only_words_that_were_heard_are_answered() -> None:
    def words(edge: Edge) -> bool:
        text = str(dict(edge.stimulus.arguments).get("text", ""))
        return Answer() not in edge.effects or bool(text.strip())

    must_hold(SEEN.counter_edge(words))


@pytest.mark.parametrize("noise", ["", " ", "\n\t", "\u00a0"])
def test_noise_that_transcribes_to_nothing_is_not_answered(noise: str) -> None:
    turn = turn_in("confirm", "commit")
    assert turn.fire("heard", text=noise) == []
    assert turn.state_name == "silent"


def test_a_turn_that_was_talked_past_gets_no_answer_of_its_own() -> None:
    must_hold(
        SEEN.counter_edge(
            lambda e: e.source.name != "overtaken" or e.target.name in ("overtaken", "silent")
        )
    )


@pytest.mark.parametrize("way", [("confirm",), ("confirm", "pause"), ("pause", "known")])
def test_a_turn_that_wants_no_answer_gets_none(way: tuple[str, ...]) -> None:
    turn = turn_in(*way)
    turn.fire("commit", answer=False)
    assert turn.fire("heard", text="Hello.") == []
    assert turn.state_name == "silent"


def test_being_overtaken_twice_is_no_fault() -> None:
    turn = turn_in("confirm", "commit", "overtake", "overtake")
    assert turn.state_name == "overtaken"
