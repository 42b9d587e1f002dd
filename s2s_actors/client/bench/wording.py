"""Word error rate: how far a transcript is from what was said.

Case and punctuation do not count. Figures are not spelled out: "10" for "ten" is an error,
so references should be written as the recogniser writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["WordErrors", "word_errors", "words_of"]


@dataclass(frozen=True, slots=True)
class WordErrors:
    """Errors of a transcript.

    Attributes:
        errors: Fewest words to put in, take out or replace to get the reference.
        words: Words in the reference.
    """

    errors: int
    words: int


def words_of(text: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return re.findall(r"\w+(?:'\w+)*", text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def word_errors(heard: str, reference: str) -> WordErrors:
    """Compare what was heard with what was said (edit distance on words)."""
    said = words_of(reference)
    distances = list(range(len(said) + 1))
    for row, word in enumerate(words_of(heard), start=1):
        diagonal, distances[0] = distances[0], row
        for column, other in enumerate(said, start=1):
            best = min(distances[column] + 1, distances[column - 1] + 1, diagonal + (word != other))
            diagonal, distances[column] = distances[column], best
    return WordErrors(distances[-1], len(said))
