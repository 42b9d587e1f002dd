"""Word error rate: how far a transcript is from what was said.

Case and punctuation do not count, nor does it whether a number up to twenty or a title is
written out. Larger numbers do: references should have them as the recogniser writes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WordErrors", "word_errors", "words_of"]

_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_WRITTEN_OUT: Final[Mapping[str, str]] = {
    **{str(number): word for number, word in enumerate(_NUMBERS.split())},
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
}


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
    """Words in lower case, without punctuation, numbers up to twenty and titles written out."""
    plain = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return [_WRITTEN_OUT.get(word, word) for word in re.findall(r"\w+(?:'\w+)*", plain)]


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
