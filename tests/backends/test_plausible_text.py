"""Text that nobody can have said is told from text that somebody did."""

from __future__ import annotations

import pytest

from s2s_actors.backends.plausible_text import first_time, has_words, repeats, too_fast


@pytest.mark.parametrize("text", ["No, no.", "Yes. Yes. Yes", "Hold on. Hold on. Hold"])
def test_text_that_starts_over_is_told(text: str) -> None:
    assert repeats(text)


@pytest.mark.parametrize(
    "text", ["", ".", "Yes.", "No, not now.", "Very, very good.", "What I said is what I said now."]
)
def test_text_that_comes_to_an_end_does_not_start_over(text: str) -> None:
    assert not repeats(text)


def test_the_words_are_kept_once() -> None:
    assert first_time("Wait a moment. Wait a moment. Wait a") == "Wait a moment."
    assert first_time("Yes, yes, yes, yes") == "Yes"
    assert first_time("Don't, don't") == "Don't"


def test_text_that_never_starts_over_has_no_first_time() -> None:
    assert first_time("Wait a moment.") == ""


def test_nobody_says_three_words_in_the_time_of_one() -> None:
    assert too_fast("Thank you very much.", duration_s=0.2)
    assert not too_fast("Thanks.", duration_s=0.2)
    assert not too_fast("Thank you very much.", duration_s=0.6)


def test_only_letters_and_digits_are_words() -> None:
    assert has_words("7")
    assert not has_words(". . . !")
