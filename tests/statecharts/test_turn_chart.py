"""The life of a turn: one answer at most, and only to words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.turn import Answer, Transcribe, TurnChart
from tests.statecharts.paths import PATHS, effect_log, must_hold

if TYPE_CHECKING:
    from statecharts.walk import Configuration, Edge

SEEN = explore(TurnChart, ENTRIES["turn"].stimuli, watch=effect_log, bound=PATHS)


def test_every_configuration_can_reach_an_end() -> None:
    assert SEEN.can_reach("answering", "silent", "discarded")


@pytest.mark.parametrize("end", ["answering", "silent", "discarded"])
def test_every_end_can_be_reached(end: str) -> None:
    assert SEEN.path_to(end) is not None


def test_a_turn_asks_for_one_answer_exactly_when_it_ends_answering() -> None:
    must_hold(SEEN.counter_state(lambda s: s.memory.count(Answer()) == (s.name == "answering")))


def test_only_words_that_were_heard_are_answered() -> None:
    def words(edge: Edge) -> bool:
        text = str(dict(edge.stimulus.arguments).get("text", ""))
        return Answer() not in edge.effects or bool(text.strip())

    must_hold(SEEN.counter_edge(words))


@pytest.mark.parametrize("noise", ["", " ", "\n\t", "\u00a0"])
def test_noise_that_transcribes_to_nothing_is_not_answered(noise: str) -> None:
    turn = TurnChart()
    turn.send("commit", answer=True)
    turn.take_effects()
    turn.send("heard", text=noise)
    assert (turn.state_name, turn.take_effects()) == ("silent", [])


def test_an_utterance_is_transcribed_once_unless_it_was_discarded() -> None:
    def transcribed(state: Configuration) -> bool:
        wanted = state.name not in ("hearing", "discarded")
        return state.memory.count(Transcribe()) == wanted

    must_hold(SEEN.counter_state(transcribed))


def test_a_turn_that_was_talked_past_gets_no_answer_of_its_own() -> None:
    must_hold(
        SEEN.counter_edge(
            lambda e: e.source.name != "overtaken" or e.target.name in ("overtaken", "silent")
        )
    )


def test_a_turn_that_wants_no_answer_gets_none() -> None:
    turn = TurnChart()
    turn.send("commit", answer=False)
    turn.send("heard", text="Hello.")
    assert (turn.state_name, turn.take_effects()) == ("silent", [Transcribe()])


def test_being_overtaken_twice_is_no_fault() -> None:
    turn = TurnChart()
    turn.send("commit", answer=True)
    turn.send("overtake")
    turn.send("overtake")
    assert turn.state_name == "overtaken"
