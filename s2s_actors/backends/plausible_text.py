"""Whether somebody can have said a text: speech recognition writes on after the speech ends."""

from __future__ import annotations

import re

__all__ = ["first_time", "has_words", "repeats", "too_fast"]

# The fastest sentences tried (a voice at 1.4 times its pace) had 25 characters a second. One
# short word may be all there is of an utterance, or be guessed from its beginning.
_CHARS_PER_S, _SPARE_CHARS = 30, 8
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001


def has_words(text: str) -> bool:
    """Whether there is a letter or digit in the text."""
    return any(char.isalnum() for char in text)


def too_fast(text: str, duration_s: float) -> bool:
    """Whether nobody can say the text in the time."""
    return len(text) > _SPARE_CHARS + _CHARS_PER_S * duration_s


def repeats(text: str) -> bool:
    """Whether the text is the same words again and again, the last time perhaps cut off."""
    words = [match.group().lower() for match in _WORD.finditer(text)]
    return _period(words) < len(words)


def first_time(text: str) -> str:
    """Text up to where it starts over; empty if it never does."""
    found = list(_WORD.finditer(text))
    period = _period([match.group().lower() for match in found])
    if period >= len(found):
        return ""
    return text[: found[period].start()].rstrip(" ,;:-–—")  # noqa: RUF001


def _period(words: list[str]) -> int:
    """After how many words they start over, at least one whole time; else their number."""
    count = len(words)
    for period in range(1, count // 2 + 1):
        if words[period:] == words[:-period]:
            return period
    return count
