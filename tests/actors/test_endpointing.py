"""Where speech starts and stops, told from probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.actors.endpointing import (
    MIN_SPEECH_MS,
    Boundary,
    Endpointer,
    EndpointingRules,
    Started,
    Stopped,
)
from s2s_actors.protocol.session import SemanticVad, ServerVad

FRAME_MS = 32
RULES = EndpointingRules(threshold=0.5, prefix_padding_ms=300, silence_duration_ms=500)


def boundaries(
    endpointer: Endpointer, probabilities: list[float], at_ms: int = 0
) -> list[Boundary]:
    found: list[Boundary] = []
    for number, probability in enumerate(probabilities):
        start_ms = at_ms + number * FRAME_MS
        found += endpointer.push(probability, start_ms, start_ms + FRAME_MS)
    return [each for each in found if isinstance(each, Started | Stopped)]


def heard(probabilities: list[float], rules: EndpointingRules = RULES) -> list[Boundary]:
    return boundaries(Endpointer(rules), probabilities)


@given(
    stretches=st.lists(
        st.tuples(st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.9]), st.integers(1, 20)), max_size=12
    ),
    threshold=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    prefix_padding_ms=st.sampled_from([0, 300, 5000]),
    silence_duration_ms=st.sampled_from([0, 32, 100, 500]),
)
def test_starts_and_stops_alternate_and_never_go_back(
    stretches: list[tuple[float, int]],
    threshold: float,
    prefix_padding_ms: int,
    silence_duration_ms: int,
) -> None:
    probabilities = [probability for probability, frames in stretches for _ in range(frames)]
    rules = EndpointingRules(threshold, prefix_padding_ms, silence_duration_ms)
    found = heard(probabilities, rules)
    kinds = [type(boundary) for boundary in found]
    assert kinds == [Started, Stopped] * (len(found) // 2) + [Started] * (len(found) % 2)
    times_ms = [boundary.at_ms for boundary in found]
    assert times_ms == sorted(times_ms)
    assert all(0 <= at_ms <= len(probabilities) * FRAME_MS for at_ms in times_ms)


def test_speech_starts_with_its_padding_and_stops_after_its_silence() -> None:
    found = heard([0.0] * 20 + [0.9] * 10 + [0.0] * 20)
    onset_ms, end_ms = 20 * FRAME_MS, 30 * FRAME_MS
    assert found == [Started(onset_ms - 300), Stopped(end_ms + 512, end_ms)]


def test_padding_does_not_reach_back_before_the_session() -> None:
    assert heard([0.9] * 5) == [Started(0)]


def test_padding_does_not_reach_back_into_the_utterance_before() -> None:
    found = heard([0.9] * 5 + [0.0] * 16 + [0.9] * 5)
    assert found == [Started(0), Stopped(21 * FRAME_MS, 5 * FRAME_MS), Started(21 * FRAME_MS)]


def test_a_click_is_not_speech() -> None:
    assert heard(([0.9] * 2 + [0.0] * 10) * 5) == []


def test_two_clicks_far_apart_do_not_add_up_to_speech() -> None:
    apart = [0.0] * (MIN_SPEECH_MS // FRAME_MS + 1)
    assert heard([0.9] * 2 + apart + [0.9] * 2) == []


def test_syllables_with_a_short_gap_are_one_word() -> None:
    assert heard([0.9] * 2 + [0.0] + [0.9] * 2) == [Started(0)]


def test_a_probability_that_falls_a_little_does_not_end_speech() -> None:
    assert heard([0.9] * 5 + [0.4] * 100) == [Started(0)]
    assert heard([0.9] * 5 + [0.3] * 100) == [Started(0), Stopped(5 * FRAME_MS + 512, 5 * FRAME_MS)]


def test_a_probability_that_falls_short_does_not_start_speech() -> None:
    assert heard([0.4] * 100) == []


@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.15])
def test_speech_ends_in_silence_however_low_the_threshold(threshold: float) -> None:
    rules = EndpointingRules(threshold, 0, 500)
    assert heard([0.9] * 5 + [0.0] * 20, rules) == [
        Started(0),
        Stopped(5 * FRAME_MS + 512, 5 * FRAME_MS),
    ]


def test_a_pause_shorter_than_the_silence_does_not_end_speech() -> None:
    assert heard(([0.9] * 5 + [0.0] * 15) * 4) == [Started(0)]


def test_new_rules_hold_for_an_utterance_that_has_begun() -> None:
    endpointer = Endpointer(RULES)
    assert boundaries(endpointer, [0.9] * 5) == [Started(0)]
    endpointer.rules = EndpointingRules(0.5, 300, 100)
    assert boundaries(endpointer, [0.0] * 4, 160) == [Stopped(160 + 4 * FRAME_MS, 160)]


def test_after_a_reset_speech_has_to_begin_anew() -> None:
    endpointer = Endpointer(RULES)
    boundaries(endpointer, [0.9] * 5)
    endpointer.reset()
    assert boundaries(endpointer, [0.0] * 50, 160) == []
    assert boundaries(endpointer, [0.9] * 2, 1760) == []


def test_the_settings_of_server_vad_are_the_rules() -> None:
    detection = ServerVad(threshold=0.7, prefix_padding_ms=120, silence_duration_ms=900)
    assert EndpointingRules.of(detection) == EndpointingRules(0.7, 120, 900)


def test_the_more_eager_the_sooner_a_turn_ends() -> None:
    waits_ms = [
        EndpointingRules.of(SemanticVad(eagerness=eagerness)).silence_duration_ms
        for eagerness in ("high", "medium", "low")
    ]
    assert waits_ms == sorted(set(waits_ms))
    assert EndpointingRules.of(SemanticVad()) == EndpointingRules.of(
        SemanticVad(eagerness="medium")
    )
