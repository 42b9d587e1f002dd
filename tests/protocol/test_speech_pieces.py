"""An answer is cut into pieces that can be spoken while it is still being written."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.open_piece import letters
from s2s_actors.protocol.speech_pieces import FIRST_PIECE, SpeechPieces

_WORDS = "the and Dr. e.g. 3. 1,000 Paris é 你好 a.b/c?d https://x.y 1."
_MARKS = ', . ! ? … : ; \u2014 - \u3002 \uff0c \u201c \u201d ``` ~~~ ** _ " ( ) # |'
_ODD = ["\n", "\n\n", " ", " ", "\r\n", "\x00", "\x1c", "\u200d", "\U0001f60a", "x" * 90]
TOKENS = st.sampled_from([*_WORDS.split(), *_MARKS.split(), *_ODD])
TEXTS = st.one_of(st.lists(TOKENS, max_size=120).map("".join), st.text(max_size=80))


def cut(*deltas: str) -> list[str]:
    pieces = SpeechPieces()
    done = [piece for delta in deltas for piece in pieces.add(delta)]
    return done + pieces.finish()


def early(text: str) -> list[str]:
    """The pieces that come while the text may still go on."""
    return SpeechPieces().add(text)


@given(TEXTS)
def test_nothing_is_lost_or_doubled_and_no_piece_is_blank(text: str) -> None:
    pieces = cut(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece.strip() == piece != "" for piece in pieces)


@given(TEXTS, st.lists(st.integers(0, 400), max_size=20))
def test_how_the_text_comes_in_does_not_matter(text: str, places: list[int]) -> None:
    bounds = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    deltas = [text[start:end] for start, end in pairwise(bounds)]
    assert cut(*deltas) == cut(text)


@given(st.lists(st.sampled_from(["river", "and", "sea,", "stone.", "Then"]), max_size=300))
def test_words_between_spaces_stay_whole(words: list[str]) -> None:
    assert " ".join(cut(" ".join(words))).split() == words


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("You asked for Paris,", "You asked for Paris,"),
        ("What a great question!", "What a great question!"),
        ("I can surely help you. H", "I can surely help you."),
        ("Here is what you need: f", "Here is what you need:"),
        ("That was a long time ago — b", "That was a long time ago —"),
        ("Das ist aber eine gute Frage, ", "Das ist aber eine gute Frage,"),
        ("\u6211\u662f\u8bed\u8a00\u6a21\u578b\uff0c",) * 2,
        ("We went to the **old town**, ", "We went to the **old town**,"),
        ("**Paris is the capital,**", "**Paris is the capital,"),
    ],
)
def test_the_first_clause_is_a_piece_as_soon_as_it_ends(text: str, first: str) -> None:
    assert early(text) == [first]
    assert early(text[: len(first) - 1]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Well, ",
        "Of course! ",
        "Yesterday I met old Dr. S",
        "There are many, e.g. T",
        "It has a population of 1,000",
        "It is more than 3.14 m",
        "I was there with old Prof. M",
        "1. E",
        "See the page https://example.com/a,b?c!",
    ],
)
def test_no_piece_ends_where_it_would_be_too_short_or_a_word_goes_on(text: str) -> None:
    assert early(text) == []


def test_a_beginning_takes_long_enough_to_say_for_the_next_piece_to_be_made() -> None:
    first, *_ = cut("Well, yes, of course, I do know that. It is quite simple.")
    assert letters(first) >= FIRST_PIECE.clause
    assert first == "Well, yes, of course,"


def test_without_a_mark_a_break_comes_before_a_joining_word() -> None:
    text = "The average distance from the Earth to the Moon is quite large."
    assert early(text)[0] == "The average distance"


def test_without_such_a_word_it_comes_between_any_two() -> None:
    text = "Traditional Japanese breakfast foods include fermented soybeans."
    assert early(text)[0] == "Traditional Japanese"


def test_later_pieces_are_sentences() -> None:
    text = (
        "I can help you with that, my friend. Tea, or so they say, is made with boiling water. "
        "Let it stand for five minutes, or for six. Then drink it, and be happy with it."
    )
    assert cut(text)[3:] == [
        "Let it stand for five minutes, or for six.",
        "Then drink it, and be happy with it.",
    ]


def test_short_sentences_are_spoken_together() -> None:
    assert cut("Here is what I think of it. Yes. No. Maybe. I do not know.") == [
        "Here is what I think of it.",
        "Yes. No. Maybe. I do not know.",
    ]


def test_pieces_grow_with_what_was_said_before_up_to_a_limit() -> None:
    lengths = [letters(piece) for piece in cut("so it goes on, and on, and on, " * 60)]
    said = 0
    for length in lengths[1:]:
        said += lengths[0] if not said else 0
        assert length <= max(2 * said, 40) + 12
        said += length
    assert max(lengths) <= 180


def test_a_sentence_that_does_not_end_is_spoken_all_the_same() -> None:
    assert max(map(len, cut("water " * 500))) < 400
    assert max(map(len, cut("水" * 900))) < 120


@pytest.mark.parametrize("text", ["…", "...", "A.", "x", "!"])
def test_what_a_model_writes_over_and_over_does_not_pile_up(text: str) -> None:
    assert max(map(len, cut(text * 2000))) <= 601


def test_code_does_not_count_as_something_to_listen_to() -> None:
    text = "Some words, and some more, and again some more, and so on, and yet some more of them."
    assert cut("```\n" + "x = 1\n" * 50 + "```\n" + text)[1:] == cut(text)


def test_lines_are_ends_and_list_numbers_are_not() -> None:
    assert cut("Here is your shopping list:\n1. Eggs from the farm\n2. Milk from the shop\n") == [
        "Here is your shopping list:",
        "1. Eggs from the farm\n2. Milk from the shop",
    ]


def test_a_block_of_code_is_one_piece() -> None:
    code = "```python\nprint('Hello, world. How are you?')\n\n# And, so, on. Really.\n```"
    assert cut(f"Look:\n{code}\nIt prints a friendly greeting.") == [
        "Look:",
        code,
        "It prints a friendly greeting.",
    ]


def test_a_block_of_code_that_does_not_end_is_one_piece() -> None:
    code = "```\nOne thing, and another. Then a third thing, and more of it. And on."
    assert cut(code) == [code]


def test_closing_marks_stay_with_their_sentence() -> None:
    assert cut('He said "Let me go now." "Why would you?" she asked. (So she did.) He left.')[
        :2
    ] == ['He said "Let me go now."', '"Why would you?" she asked. (So she did.)']


def test_after_the_end_another_text_can_begin() -> None:
    pieces = SpeechPieces()
    text = "This is a text, and it is not a long one."
    first = pieces.add(text) + pieces.finish()
    assert pieces.add(text) + pieces.finish() == first
    assert pieces.finish() == []
