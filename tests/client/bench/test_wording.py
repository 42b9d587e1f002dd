"""Word error rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.client.bench.wording import WordErrors, word_errors

SENTENCES = st.lists(st.sampled_from(["the", "cat", "sat", "on"]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("heard", "said", "errors"),
    [
        ("What is it?", "what IS it", 0),
        ("what it", "what is it", 1),
        ("what is is it", "what is it", 1),
        ("what was it", "what is it", 1),
        ("it is what", "what is it", 2),
        ("", "what is it", 3),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t", "don't", 0),
        ("do not", "don't", 2),
        ("1-2-3, Mr. 20", "one two three mister twenty", 0),
        ("21", "twenty one", 2),
    ],
)
def test_errors_are_the_fewest_changes_of_words(heard: str, said: str, errors: int) -> None:
    assert word_errors(heard, said).errors == errors


def test_the_base_is_what_was_said() -> None:
    assert word_errors("a b c d", "a b") == WordErrors(2, 2)


@given(SENTENCES, SENTENCES, SENTENCES)
def test_it_is_a_distance(one: str, two: str, three: str) -> None:
    direct = word_errors(one, three).errors
    assert direct == word_errors(three, one).errors
    assert direct <= word_errors(one, two).errors + word_errors(two, three).errors
    assert (direct == 0) == (one == three)
