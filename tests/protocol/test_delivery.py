"""An answer is cut into segments: the same for a draft and for the response it becomes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.delivery import Delivery, Segment
from s2s_actors.protocol.spoken_text import spoken

TEXT = st.lists(
    st.sampled_from(
        [
            "Hello",
            " there.",
            " And ",
            "so on,",
            "\n",
            "* ",
            "**",
            "```",
            "1. ",
            "日本。",
            " ",
            "🎉",
            "3.5",
        ]
    ),
    max_size=40,
).map("".join)


def delivered(text: str, cuts: list[int] | None = None, *, speaks: bool = True) -> list[Segment]:
    """All segments of a message that comes in such deltas."""
    delivery = Delivery(speaks=speaks)
    places = sorted({min(cut, len(text)) for cut in cuts or []} | {0, len(text)})
    segments: list[Segment] = []
    for start, end in pairwise(places):
        segments += delivery.segments(delivery.written(text[start:end]))
    return segments + delivery.end()


@given(TEXT, st.lists(st.integers(0, 200), max_size=8))
def test_how_the_text_comes_in_changes_no_segment(text: str, cuts: list[int]) -> None:
    assert delivered(text, cuts) == delivered(text)


@given(TEXT)
def test_every_segment_has_something_to_say_and_they_are_counted(text: str) -> None:
    segments = delivered(text)

    assert [each.number for each in segments] == list(range(len(segments)))
    assert all(each.speech.strip() for each in segments)


@given(TEXT)
def test_all_that_can_be_said_is_said_once_and_in_order(text: str) -> None:
    left = text
    for segment in delivered(text):
        for char in "".join(segment.text.split()):
            left = left.lstrip()
            assert left.startswith(char)
            left = left[1:]

    assert not spoken(left).strip()


def test_a_text_that_is_only_written_has_no_segments() -> None:
    assert delivered("Hello there. And so on.", speaks=False) == []


@given(st.text(alphabet=" \n\t", max_size=10))
def test_white_space_before_a_message_is_no_part_of_it(space: str) -> None:
    delivery = Delivery(speaks=True)

    assert delivery.written(space) == ""
    assert delivery.end() == []
    assert delivery.written(space + "Hello ") == "Hello "
    assert delivery.written(space) == space


def test_the_segments_of_the_next_message_are_counted_on() -> None:
    delivery = Delivery(speaks=True)
    delivery.segments(delivery.written("Let me look."))
    first = delivery.end()
    delivery.segments(delivery.written("  It is sunny."))
    second = delivery.end()

    assert [each.number for each in first + second] == [0, 1]
    assert second[0].text == "It is sunny."
