"""The wait for an answer: no state is left out, and there is one end."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from statecharts.catalogue import ENTRIES
from statecharts.explore import explore
from statecharts.pace import PaceChart
from tests.statecharts.paths import must_hold

if TYPE_CHECKING:
    from statecharts.walk import Edge

SEEN = explore(PaceChart, ENTRIES["pace"].stimuli)
WAY = ("settling", "recognizing", "preparing", "thinking", "writing", "voicing", "answered")
FORWARD = ("settled", "heard", "ready", "word", "sentence", "sound")


def drive(*events: str, spoken: bool = True) -> PaceChart:
    chart = PaceChart()
    for event in events:
        data = {"spoken": spoken} if event == "word" else {}
        chart.fire(event, **data)
    return chart


def test_every_configuration_can_reach_an_end() -> None:
    assert SEEN.can_reach("answered", "unanswered")


def test_a_spoken_answer_is_waited_for_in_every_state_in_order() -> None:
    way = [drive(*FORWARD[:count]).state_name for count in range(len(FORWARD) + 1)]
    assert tuple(way) == WAY


def test_no_state_is_left_out_on_the_way() -> None:
    steps = {*pairwise(WAY), ("thinking", "answered")}

    def one_step(edge: Edge) -> bool:
        forward = edge.stimulus.event in FORWARD
        return not forward or (edge.source.name, edge.target.name) in steps

    must_hold(SEEN.counter_edge(one_step))


def test_an_answer_that_is_read_begins_with_its_first_word() -> None:
    assert drive("settled", "heard", "ready", "word", spoken=False).state_name == "answered"


def test_only_a_first_word_or_a_first_sound_answers() -> None:
    must_hold(
        SEEN.counter_edge(
            lambda e: e.target.name != "answered" or e.stimulus.event in ("word", "sound")
        )
    )


@pytest.mark.parametrize("count", range(len(FORWARD)))
def test_it_can_be_given_up_everywhere(count: int) -> None:
    chart = drive(*FORWARD[:count])
    chart.send("give_up")
    assert chart.state_name == "unanswered"


def test_the_silence_is_over_for_good() -> None:
    must_hold(SEEN.counter_edge(lambda e: e.target.name != "settling"))


@pytest.mark.parametrize("count", range(2, len(FORWARD)))
def test_what_was_begun_in_vain_is_begun_again_with_the_transcript(count: int) -> None:
    chart = drive(*FORWARD[:count])
    chart.send("retract")
    assert chart.state_name == "recognizing"


def test_it_keeps_nothing_but_its_state() -> None:
    assert len(SEEN.states) == len(set(PaceChart.states_map))
