"""A turn ends soon after a finished sentence, and not in the pauses of an unfinished one."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from s2s_actors.protocol.end_of_turn import Eagerness, silence_needed_ms
from s2s_actors.protocol.finished_words import Words, words_say

EAGERNESS: tuple[Eagerness, ...] = get_args(Eagerness)
FAST_MS, DOUBT_MS, OPEN_MS, UNFINISHED_MS = 200, 800, 1600, 4000
LONG_MS, SHORT_MS = 2400, 700

FINISHED = (
    "What is the capital of France?",
    "Turn off the lights in the kitchen.",
    "My train leaves at 7.30, so I have to get up early.",
    "I would like a pizza with mushrooms, olives and cheese.",
    "If it rains tomorrow, we will stay at home.",
    "When does the next bus leave?",
    "The film was very long.",
    "What are you looking for?",
    "I don't understand you.",
    'He said "I would like to stop."',
)
ANSWERS = (
    "Yes.",
    "yes",
    "No, thanks.",
    "Stop.",
    "Two.",
    "10",
    "7:30",
    "Okay, go on.",
    "The blue one.",
    "I don’t know.",  # noqa: RUF001
    "Chocolate.",
    "What's that?",
    "Ja.",
    "Oui.",
)
OPEN = (
    "I would like to",
    "I would like to.",
    "What is the capital of",
    "What is the capital of?",
    "Can you tell me what the...",
    "I'd",
    "I need a ticket and",
    "He told me that she",
    "My name is",
    "We could go to the…",
    "I bought apples,",
    "It was so —",
    "So, um.",
    "Well",
    "I was, you know.",
    "If",
)
DOUBTFUL = (
    "The children",
    "The quickest way.",
    "And so my fellow Americans.",
    "Which of these two phones?",
    "I bought apples, bananas.",
    "My phone number is 555-1.",
    "five three",
    "If it rains tomorrow.",
    "I would like to order.",
    "How do you?",
    "since the beginning of last.",
    "",
    "?!",
)
OTHER_LANGUAGES = (
    "Ich komme um acht Uhr.",
    "Komm bitte zu mir her.",
    "Das weiß ich nicht so.",
    "Il fait beau à la mer.",
    "Creo que lo sabe él a.",
    "Ik ga niet met we.",
    "私は学生です。",
    "你叫什么名字？",  # noqa: RUF001
    "كم الساعة؟",
)

texts = st.one_of(
    st.none(),
    st.sampled_from([*FINISHED, *ANSWERS, *OPEN, *DOUBTFUL, *OTHER_LANGUAGES]),
    st.lists(
        st.sampled_from(
            [
                "I",
                "the",
                "um",
                "yes",
                "no.",
                "like",
                "to",
                "one,",
                "?",
                "...",
                "-",
                "7",
                "you",
                "is",
                "she",
            ]
        )
    ).map(" ".join),
    st.text(max_size=30),
)
scores = st.floats(0, 1)
lengths_ms = st.integers(0, 30_000)
eagernesses = st.sampled_from(EAGERNESS)


def needed(
    score: float | None, words: str | None, speech_ms: int = LONG_MS, eagerness: Eagerness = "auto"
) -> int:
    return silence_needed_ms(score, words, eagerness, speech_ms)


@pytest.mark.parametrize("words", FINISHED)
def test_a_sentence_that_sounds_finished_is_answered_at_once(words: str) -> None:
    assert needed(0.9, words) == FAST_MS


@pytest.mark.parametrize("words", FINISHED)
def test_a_sentence_that_sounds_unfinished_waits_out_a_pause_for_thought(words: str) -> None:
    assert needed(0.3, words) == DOUBT_MS


@pytest.mark.parametrize("words", ANSWERS)
@pytest.mark.parametrize("score", [None, 0.2, 0.9])
def test_a_short_answer_is_answered_at_once(words: str, score: float | None) -> None:
    assert needed(score, words, 300) == FAST_MS


@pytest.mark.parametrize("words", OPEN)
def test_words_that_go_on_are_waited_for_however_finished_they_sound(words: str) -> None:
    assert needed(0.99, words) == OPEN_MS
    assert needed(0.3, words) == UNFINISHED_MS


@pytest.mark.parametrize("words", DOUBTFUL[:-2])
def test_a_beginning_waits_out_a_pause_for_thought_however_finished_it_sounds(words: str) -> None:
    assert needed(0.99, words) == DOUBT_MS
    assert needed(0.01, words) == UNFINISHED_MS


@pytest.mark.parametrize("words", ["Turn off the light.", "What is the capital?"])
def test_the_sound_of_a_short_beginning_is_not_believed(words: str) -> None:
    assert needed(0.99, words, SHORT_MS) == DOUBT_MS


def test_the_shorter_the_speech_the_surer_the_sound_has_to_be() -> None:
    assert needed(0.7, FINISHED[1], 1500) == DOUBT_MS
    assert needed(0.99, FINISHED[1], 1500) == needed(0.7, FINISHED[1], 2500) == FAST_MS


@pytest.mark.parametrize("words", [FINISHED[0], "Yes.", None])
def test_a_hesitation_that_is_only_heard_is_waited_for(words: str | None) -> None:
    assert needed(0.006, words) == OPEN_MS


def test_while_nothing_is_known_the_turn_waits_out_a_pause_for_thought() -> None:
    assert needed(None, None) == DOUBT_MS


def test_what_has_no_words_is_judged_by_its_sound() -> None:
    for score in (None, 0.0, 0.5, 1.0):
        assert needed(score, " \n") == needed(score, None)


def test_sound_alone_has_to_be_very_sure() -> None:
    assert needed(0.97, None) == DOUBT_MS
    assert needed(0.99, None) == FAST_MS
    assert needed(0.99, None, 1500) == DOUBT_MS


def test_the_full_stop_of_a_transcript_alone_ends_no_turn() -> None:
    assert needed(None, FINISHED[1]) == DOUBT_MS
    assert needed(None, "I would like to.") == OPEN_MS


def test_without_a_mark_a_phrase_may_be_a_beginning() -> None:
    assert needed(0.9, "I am.", 300) == needed(0.9, "yes", 300) == FAST_MS
    assert needed(0.9, "I am", 300) == OPEN_MS
    assert needed(0.9, "I like it", 300) == DOUBT_MS


@pytest.mark.parametrize("words", OTHER_LANGUAGES)
def test_other_languages_end_with_their_marks_and_not_with_english_words(words: str) -> None:
    assert words_say(words) is Words.PLAUSIBLE
    assert words_say(words[:-1]) is Words.DOUBTFUL
    assert words_say(f"{words[:-1]}...") is Words.OPEN
    assert needed(0.9, words) == FAST_MS


@pytest.mark.parametrize(
    ("eagerness", "waits_ms"),
    [
        ("low", [400, 1200, 3000, 8000]),
        ("medium", [200, 800, 1600, 4000]),
        ("auto", [200, 800, 1600, 4000]),
        ("high", [200, 550, 1000, 2000]),
    ],
)
def test_eagerness_sets_the_waits(eagerness: Eagerness, waits_ms: list[int]) -> None:
    cases = [(0.99, FINISHED[0]), (0.2, FINISHED[0]), (0.9, OPEN[0]), (0.1, OPEN[0])]
    assert [needed(*case, eagerness=eagerness) for case in cases] == waits_ms


def test_the_more_eager_the_less_sure_the_sound_has_to_be() -> None:
    assert needed(0.5, FINISHED[0], eagerness="high") == FAST_MS
    assert needed(0.5, FINISHED[0], eagerness="auto") > FAST_MS
    assert needed(0.8, FINISHED[0], eagerness="auto") == FAST_MS
    assert needed(0.8, FINISHED[0], eagerness="low") > 700


@given(scores, scores, texts, eagernesses, lengths_ms)
@example(0.0, 0.02, "Yes.", "auto", 300)
@example(0.49, 0.5, OPEN[0], "low", 300)
def test_a_higher_score_never_needs_a_longer_silence(
    one: float, other: float, words: str | None, eagerness: Eagerness, speech_ms: int
) -> None:
    low, high = sorted((one, other))
    assert needed(high, words, speech_ms, eagerness) <= needed(low, words, speech_ms, eagerness)


@given(st.none() | scores, texts, eagernesses, lengths_ms, lengths_ms)
def test_longer_speech_never_needs_a_longer_silence(
    score: float | None, words: str | None, eagerness: Eagerness, one_ms: int, other_ms: int
) -> None:
    short_ms, long_ms = sorted((one_ms, other_ms))
    assert needed(score, words, long_ms, eagerness) <= needed(score, words, short_ms, eagerness)


@given(st.none() | scores, texts, lengths_ms)
def test_more_eagerness_never_waits_longer(
    score: float | None, words: str | None, speech_ms: int
) -> None:
    waits_ms = [needed(score, words, speech_ms, how) for how in ("high", "auto", "low")]
    assert waits_ms == sorted(waits_ms)
    assert waits_ms[1] == needed(score, words, speech_ms, "medium")


@given(texts, lengths_ms)
def test_words_that_go_on_never_end_a_turn_sooner_than_none(
    words: str | None, speech_ms: int
) -> None:
    for score in (None, 0.0, 0.3, 0.7):
        going_on = f"{words or 'Yes'} and the"
        assert needed(score, going_on, speech_ms) >= needed(score, None, speech_ms)


@pytest.mark.parametrize("words", [*FINISHED, *ANSWERS])
def test_what_is_finished_is_not_taken_for_a_beginning(words: str) -> None:
    assert words_say(words) >= Words.PLAUSIBLE


@pytest.mark.parametrize("words", DOUBTFUL)
def test_what_may_be_a_beginning_is_doubted(words: str) -> None:
    assert words_say(words) is Words.DOUBTFUL
