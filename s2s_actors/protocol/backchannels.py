"""Words that keep a conversation going, and do not claim the floor.

A listener says "mm-hmm", "yeah" or "right" to show that he follows (Yngve 1970); who speaks
goes on. The same words are an answer where something was asked.
"""

from __future__ import annotations

import re
from typing import Final

MAX_WORDS: Final = 3
"""Longer utterances say something, even if each word alone would not."""
_SPELLINGS: Final = """
mm mmm mmmm hm hmm hmmm mhm mhmm mmhmm mmhm mhmmhm uh uhhuh huh ah aha ahh oh ooh um er eh
yeah yea yep yup yes ya okay ok okey kay right alright sure indeed exactly true absolutely
wow nice cool great good really fine gotcha isee gotit
ja jaja jo genau stimmt klar achso gut
oui ouais daccord voila
sí si claro vale ya bueno
certo va bene
sim tá pois
precies oké
"""
"""English with the ways in which a hum is written; German, French, Spanish, Italian, Portuguese,
Dutch."""
_WORDS: Final = frozenset(_SPELLINGS.split())
_PHRASES: Final = frozenset(
    {"i see", "got it", "uh huh", "mm hmm", "mm hm", "m hm", "of course", "go on", "i know",
     "that's right", "all right", "ach so", "d'accord", "va bene", "oh wow", "oh okay", "oh yeah",
     "makes sense"}
)  # fmt: skip
_PARTING: Final = re.compile(r"[\s.,!?;:…–—-]+")  # noqa: RUF001


def is_backchannel(text: str) -> bool:
    """Whether words are no more than a sign of listening. No words at all are none."""
    words = _words_of(text)
    if not words or len(words) > MAX_WORDS:
        return False
    if " ".join(words) in _PHRASES or "".join(words) in _WORDS:
        return True
    return all(word in _WORDS for word in words)


def may_become_backchannel(text: str) -> bool:
    """Whether the beginning of something that is still being said may be a backchannel."""
    words = _words_of(text)
    if not words:
        return True
    begun = " ".join(words)
    if any(phrase.startswith(begun) for phrase in _PHRASES):
        return True
    return len(words) == 1 and any(word.startswith(words[0]) for word in _WORDS)


def _words_of(text: str) -> list[str]:
    return [word.strip("'\"").lower() for word in _PARTING.split(text) if word]
