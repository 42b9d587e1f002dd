"""An answer takes what was read, and chooses its words by its own rules."""

from __future__ import annotations

import torch

from tests.backends.answers import answer

CLOSE = torch.tensor([[0.0, 0.0, 1.0, 0.95]])
"""Token 2 is a little likelier than token 3."""


def test_nothing_is_written_before_all_has_been_read() -> None:
    reader = answer([1, 2, 3])
    reader.take(2, CLOSE)
    assert (reader.reading.tokens, reader.unread, reader.written) == ([1, 2], [3], [])
    reader.take(1, CLOSE)
    assert (reader.reading.tokens, reader.unread, reader.written) == ([1, 2, 3], [2], [2])


def test_what_was_written_is_less_likely_to_be_written_again() -> None:
    writer = answer([1])
    writer.take(1, CLOSE)
    writer.take(1, CLOSE)
    assert writer.written == [2, 3]


def test_the_words_of_the_question_are_as_likely_as_others() -> None:
    writer = answer([2])
    writer.take(1, CLOSE)
    assert writer.written == [2]
