"""A piece of an answer that is being read, and the places where it may be cut."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sentence_stream import SentenceBoundaryDetector

_CLAUSE_END_AT_ONCE = ",;!?"
_CLAUSE_END_BEFORE_SPACE = ":…-\u2013\u2014"
_WIDE_CLAUSE_END = "\uff0c\u3001\uff1b\uff1a\uff01\uff1f"
_AROUND_WORDS = "*_\"'\u2019\u201c\u201d()"
_IN_WORDS = str.maketrans("", "", "'\u2019-")
_FENCES, _FENCE_MARKS = ("```", "~~~"), "`~"
# English: a break before one of these is heard least.
_JOINING = """
and or but because which who that when while where if so as than with for from in on at by
through into over under between about after before during without within towards around
is are was were has have had can could will would to
"""
_JOINING_WORDS = frozenset(_JOINING.split())
# No sentence ends here: list numbers and ordinals, and what the library does not know: it
# takes one to three letters after a capital for an abbreviation.
_NO_SENTENCE_END = re.compile(
    r"(?:^|[^\w.,])(?:\d{1,2}|prof|e\.g|i\.e|etc|vs|approx|fig|vol|z\.\s?b|bzw|ca|usw)\.\W*$",
    re.IGNORECASE,
)
_HARD_LIMIT_LETTERS, _HARD_LIMIT_CHARS = 300, 600
_WIDE_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """How many letters a piece must have to be cut at which kind of place.

    Attributes:
        sentence: At the end of a sentence or of a line.
        clause: At the end of a clause.
        short: At the end of a shorter sentence, once there is enough for a clause.
        word: Before a word that joins two phrases; most of them have to stand before it.
        any_word: Between any two words, where there is no better place.
    """

    sentence: int
    clause: int
    short: int
    word: int
    any_word: int = _HARD_LIMIT_LETTERS


def letters(text: str) -> int:
    """How much there is to say, in letters and digits of a Latin script, some 80 ms each.

    A character of a script that is written without spaces takes as long as three of them.
    """
    return sum(map(_letters, text))


def _letters(char: str) -> int:
    if not char.isalnum():
        return 0
    return _WIDE_LETTERS if _is_wide(char) else 1


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


class OpenPiece:
    """Reads the text of one piece, character by character, up to where it is to be cut.

    Sentence ends are the library's. It sees the text without quotation marks, brackets,
    emphasis and pictographs, which it would not look past.
    """

    def __init__(self, patience: Patience) -> None:
        self.text = ""
        self._patience = patience
        self._letters = 0
        self._sentences = SentenceBoundaryDetector()
        self._plain_ends: list[int] = []
        """Where each character that the library has seen ends in the text; no white space."""
        self._line_start = self._word_start = 0
        self._short_end = self._clause_end = self._phrase_end = self._word_end = 0
        self.is_code = False

    def read(self, char: str) -> int:
        """Read one character and return where to cut the text, or 0 to go on."""
        if not self.text and char.isspace():
            return 0
        self.text += char
        self._letters += _letters(char)
        cut = self._code_end(char) if self.is_code else self._text_end(char)
        if char == "\n":
            self._line_start = len(self.text)
        if char.isspace():
            self._word_start = len(self.text)
        return cut

    def _code_end(self, char: str) -> int:
        closed = char == "\n" and self._line_start and self._line().strip() in _FENCES
        return len(self.text) if closed else 0

    def _text_end(self, char: str) -> int:
        if char in _FENCE_MARKS and self._line().lstrip() in _FENCES:
            self.is_code = self._line_start == 0
            return self._line_start
        cut = self._sentence_end(char)
        if self._long_enough(cut, self._patience.sentence):
            return cut
        self._short_end = cut or self._short_end
        self._note_places(char)
        return self._other_place()

    def _line(self) -> str:
        return self.text[self._line_start :]

    def _sentence_end(self, char: str) -> int:
        if char == "\n":
            return len(self.text)
        if not _is_plain(char):
            return 0
        if not char.isspace():
            self._plain_ends.append(len(self.text))
        seen = sum(_visible(sentence) for sentence in self._sentences.add_chunk(char))
        if not seen:
            return 0
        end = self._plain_ends[seen - 1]
        del self._plain_ends[:seen]
        while not self.text[end].isspace() and _closes(self.text[end]):
            end += 1
        return 0 if _NO_SENTENCE_END.search(self.text[:end]) else end

    def _note_places(self, char: str) -> None:
        end = len(self.text)
        if self._ends_clause(char):
            self._clause_end = end
        elif char.isspace():
            word = self.text[self._word_start : end - 1]
            if word.lower() in _JOINING_WORDS:
                self._phrase_end = self._word_start
            if word and word[-1] in _CLAUSE_END_BEFORE_SPACE:
                self._clause_end = end
            self._word_end = end
        elif _is_wide(char):
            self._word_end = end

    def _ends_clause(self, char: str) -> bool:
        if char in _WIDE_CLAUSE_END:
            return True
        # Before a comma after a digit, or in an address, it takes more to know.
        word = self.text[self._word_start : -1].strip(_AROUND_WORDS)
        return char in _CLAUSE_END_AT_ONCE and word.translate(_IN_WORDS).isalpha()

    def _other_place(self) -> int:
        patience = self._patience
        least = min(patience.sentence, patience.clause)
        for needed, place, shortest in (
            (patience.clause, self._short_end, patience.short),
            (patience.clause, self._clause_end, least),
            # With too little before the break, the next such word is a better place.
            (patience.word, self._phrase_end, patience.word * 5 // 8),
            (patience.any_word, self._word_end, least),
        ):
            if self._letters >= needed and self._long_enough(place, shortest):
                return place
        return (self._word_end or len(self.text)) if len(self.text) > _HARD_LIMIT_CHARS else 0

    def _long_enough(self, place: int, least: int) -> bool:
        return place > 0 and letters(self.text[:place]) >= least


def _is_plain(char: str) -> bool:
    if char in "*_`#~>|\"'":
        return False
    return unicodedata.category(char) not in {"Ps", "Pe", "Pi", "Pf", "So", "Sk", "Cf"}


def _closes(char: str) -> bool:
    return not _is_plain(char) and unicodedata.category(char) not in {"Ps", "Pi"}


def _visible(text: str) -> int:
    return sum(not char.isspace() for char in text)
