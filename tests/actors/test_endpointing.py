"""Where speech starts and stops, told from probabilities."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.actors.endpointing import (
    MIN_RESUMED_MS,
    MIN_SPEECH_MS,
    PAUSE_MS,
    TICKS_FINE_UNTIL_MS,
    Boundary,
    Endpointer,
    EndpointingRules,
    Lasted,
    Paused,
    Quiet,
    Resumed,
    Started,
    Stopped,
)
from s2s_actors.protocol.session import SemanticVad, ServerVad

FRAME_MS = 32
RULES = EndpointingRules(threshold=0.5, prefix_padding_ms=300, silence_duration_ms=500)


WEIGHED = EndpointingRules(0.5, 300, 500, is_weighed=True)


def everything(
    endpointer: Endpointer, probabilities: list[float], at_ms: int = 0
) -> list[Boundary]:
    found: list[Boundary] = []
    for number, probability in enumerate(probabilities):
        start_ms = at_ms + number * FRAME_MS
        found += endpointer.push(probability, start_ms, start_ms + FRAME_MS)
    return found


def boundaries(
    endpointer: Endpointer, probabilities: list[float], at_ms: int = 0
) -> list[Boundary]:
    found = everything(endpointer, probabilities, at_ms)
    return [each for each in found if isinstance(each, Started | Stopped)]


def pauses(probabilities: list[float], rules: EndpointingRules = RULES) -> list[Boundary]:
    """All that is told, but for how long speech has lasted."""
    found = everything(Endpointer(rules), probabilities)
    return [each for each in found if not isinstance(each, Lasted)]


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


# --- pauses --------------------------------------------------------------------------------------


STRETCHES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.9]), st.integers(1, 20)), max_size=14
)
# What may follow each thing that is told, "begin" standing for nothing told yet.
FOLLOWS: dict[str, set[str]] = {
    "begin": {"Started"},
    "Started": {"Lasted", "Paused"},
    "Lasted": {"Lasted", "Paused"},
    "Paused": {"Quiet", "Resumed", "Stopped"},
    "Quiet": {"Quiet", "Resumed", "Stopped"},
    "Resumed": {"Lasted", "Paused"},
    "Stopped": {"Started"},
}


@given(
    stretches=STRETCHES,
    threshold=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    silence_duration_ms=st.sampled_from([0, 32, 96, 100, 500, 4000]),
    is_weighed=st.booleans(),
    ends=st.booleans(),
)
def test_all_that_is_told_comes_in_its_order_and_never_goes_back(
    stretches: list[tuple[float, int]],
    threshold: float,
    silence_duration_ms: int,
    is_weighed: bool,
    ends: bool,
) -> None:
    probabilities = [probability for probability, frames in stretches for _ in range(frames)]
    endpointer = Endpointer(EndpointingRules(threshold, 0, silence_duration_ms, is_weighed))
    found = everything(endpointer, probabilities)
    end_ms = len(probabilities) * FRAME_MS
    if ends:
        found += endpointer.stop(end_ms)
    kinds = ["begin", *(type(each).__name__ for each in found)]
    for one, two in itertools.pairwise(kinds):
        assert two in FOLLOWS[one], kinds
    assert ("Quiet" in kinds) <= is_weighed
    # What begins is told where it began, which is before it was sure.
    told_ms = [each.at_ms for each in found if not isinstance(each, Started | Resumed)]
    assert told_ms == sorted(told_ms)
    assert all(0 <= each.at_ms <= end_ms for each in found)
    last_quiet_ms = 0
    for each in found:
        if isinstance(each, Paused | Stopped):
            assert last_quiet_ms <= each.quiet_ms <= each.at_ms
            last_quiet_ms = each.quiet_ms
        elif isinstance(each, Resumed):
            assert each.at_ms >= last_quiet_ms
    assert endpointer.in_speech is (kinds[-1] not in ("begin", "Stopped"))


def test_a_short_silence_is_told_as_a_pause_and_so_is_its_end() -> None:
    found = pauses([0.9] * 5 + [0.0] * 5 + [0.9] * 5)
    onset_ms, quiet_ms, again_ms = 0, 5 * FRAME_MS, 10 * FRAME_MS
    assert found == [Started(onset_ms), Paused(quiet_ms + PAUSE_MS, quiet_ms), Resumed(again_ms)]


def test_a_gap_between_syllables_is_no_pause() -> None:
    frames = PAUSE_MS // FRAME_MS - 1
    assert pauses(([0.9] * 4 + [0.0] * frames) * 6) == [Started(0)]


def test_a_click_in_a_pause_is_not_the_end_of_it() -> None:
    found = pauses([0.9] * 5 + [0.0] * 4 + [0.9] + [0.0] * 4 + [0.9] + [0.0] * 20)
    quiet_ms = 5 * FRAME_MS
    assert [type(each) for each in found] == [Started, Paused, Stopped]
    assert isinstance(found[-1], Stopped)
    # Nor does it put off the end of the turn.
    assert (found[-1].at_ms, found[-1].quiet_ms) == (quiet_ms + 512, quiet_ms)


def test_speech_goes_on_after_a_pause_once_it_has_lasted() -> None:
    frames = MIN_RESUMED_MS // FRAME_MS
    before = [0.9] * 5 + [0.0] * 4
    assert Resumed not in [type(each) for each in pauses(before + [0.9] * (frames - 1))]
    assert pauses(before + [0.9] * frames)[-1] == Resumed(9 * FRAME_MS)


def test_a_turn_ends_by_a_silence_that_is_shorter_than_a_pause() -> None:
    rules = EndpointingRules(0.5, 0, 32)
    found = pauses([0.9] * 5 + [0.0], rules)
    end_ms, quiet_ms = 6 * FRAME_MS, 5 * FRAME_MS
    assert found == [Started(0), Paused(end_ms, quiet_ms), Stopped(end_ms, quiet_ms)]


def test_the_pause_is_counted_only_where_it_is_weighed() -> None:
    frames = [0.9] * 5 + [0.0] * 8
    quiet = [each for each in pauses(frames, WEIGHED) if isinstance(each, Quiet)]
    assert [each.for_ms for each in quiet] == [96, 128, 160, 192, 224, 256]
    assert all(each.at_ms == 5 * FRAME_MS + each.for_ms for each in quiet)
    assert not [each for each in pauses(frames) if isinstance(each, Quiet)]


def test_how_long_speech_has_lasted_is_told_often_at_first() -> None:
    found = everything(Endpointer(RULES), [0.9] * 60)
    lasted = [each for each in found if isinstance(each, Lasted)]
    lengths_ms = [each.for_ms for each in lasted]
    assert lengths_ms[0] == MIN_SPEECH_MS + FRAME_MS
    assert all(each.at_ms == each.for_ms for each in lasted)
    fine = [each for each in lengths_ms if each <= TICKS_FINE_UNTIL_MS]
    coarse = [each for each in lengths_ms if each > TICKS_FINE_UNTIL_MS]
    assert {b - a for a, b in itertools.pairwise(fine)} == {FRAME_MS}
    assert {b - a for a, b in itertools.pairwise(coarse)} == {256}


def test_after_a_pause_it_is_told_anew_how_long_speech_has_lasted() -> None:
    found = everything(Endpointer(RULES), [0.9] * 30 + [0.0] * 4 + [0.9] * 5)
    assert [each.for_ms for each in found if isinstance(each, Lasted)][-3:] == [96, 128, 160]


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([], []),
        ([0.9] * 2, []),
        ([0.9] * 5, [Paused, Stopped]),
        ([0.9] * 5 + [0.0] * 2, [Paused, Stopped]),
        ([0.9] * 5 + [0.0] * 5, [Stopped]),
        ([0.9] * 5 + [0.0] * 20, []),
    ],
)
def test_the_end_of_the_audio_ends_what_is_being_said(
    probabilities: list[float], expected: list[type]
) -> None:
    endpointer = Endpointer(RULES)
    everything(endpointer, probabilities)
    at_ms = len(probabilities) * FRAME_MS
    found = endpointer.stop(at_ms)
    assert [type(each) for each in found] == expected
    assert all(each.at_ms == at_ms for each in found)
    assert not endpointer.in_speech
    assert endpointer.stop(at_ms) == []
    # What was only suspected does not count for what comes next.
    assert boundaries(endpointer, [0.9], at_ms) == []


def test_the_length_of_an_utterance_is_without_its_padding_and_the_silence_after_it() -> None:
    endpointer = Endpointer(WEIGHED)
    everything(endpointer, [0.0] * 20 + [0.9] * 10 + [0.0] * 6)
    assert endpointer.speech_ms == 10 * FRAME_MS
    everything(endpointer, [0.9] * 3 + [0.0] * 6, 36 * FRAME_MS)
    assert endpointer.speech_ms == 19 * FRAME_MS, "pauses within it count"
