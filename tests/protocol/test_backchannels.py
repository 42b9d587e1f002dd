"""Words that only show that somebody listens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.backchannels import MAX_WORDS, is_backchannel, may_become_backchannel

BACKCHANNELS = [
    "Yeah.",
    "mm-hmm",
    "Mm hmm.",
    "Uh-huh!",
    "OK",
    "okay, right",
    "Oh, wow.",
    "I see",
    "Got it.",
    "That's right.",
    "Genau.",
    "d'accord",
    "yeah, yeah, yeah",
]


@pytest.mark.parametrize("text", BACKCHANNELS)
def test_signs_of_listening_are_backchannels(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize(
    "text",
    [
        "Stop.",
        "No.",
        "Wait",
        "Yeah, but",
        "I see a problem",
        "Okay, stop.",
        "What?",
        "Right there",
        "yeah yeah yeah yeah",
    ],
)
def test_whatever_says_something_is_none(text: str) -> None:
    assert not is_backchannel(text)


@pytest.mark.parametrize("text", ["", "  ", "...", "?!", "-"])
def test_no_words_are_no_backchannel_but_may_become_one(text: str) -> None:
    assert not is_backchannel(text)
    assert may_become_backchannel(text)


@given(st.sampled_from(["Yeah", "Mm-hmm", "I see", "Got it", "Okay"]), st.data())
def test_every_beginning_of_one_may_become_one(text: str, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(text)))

    assert may_become_backchannel(text[:length])


@pytest.mark.parametrize("text", ["Stop", "No, no", "Wait", "Can you", "Hello", "I want"])
def test_other_beginnings_do_not(text: str) -> None:
    assert not may_become_backchannel(text)


@given(st.text(max_size=60))
def test_any_text_has_an_answer_and_a_long_one_says_something(text: str) -> None:
    may_become_backchannel(text)
    if is_backchannel(text):
        assert 0 < len(text.replace("-", " ").split()) <= 2 * MAX_WORDS + 1
