"""Whether words may be all that somebody wanted to say.

English is read by its grammar, as far as its small words go. Of other languages only the marks
at the end count. The marks are those that Whisper (tiny.en) writes: all of 126 sentences got a
full stop or a question mark, but so did 56 % of the beginnings that break off after a small word
and 82 % of the others.
"""

from __future__ import annotations

import itertools
import re
from enum import IntEnum
from typing import Final

from s2s_actors.protocol.english_wording import is_english

__all__ = ["Words", "words_say"]


class Words(IntEnum):
    """What a transcript says about whether it is all; the higher, the more likely it is."""

    OPEN = 0
    """After its last word or mark something has to come."""
    DOUBTFUL = 1
    """It may well be a beginning."""
    PLAUSIBLE = 2
    """It is written like a whole sentence."""
    ANSWER = 3
    """It is one of the usual short answers."""


_WORD: Final = re.compile(r"[^\W_]+(?:['’.:][^\W_]+)*")  # noqa: RUF001
_GOES_ON: Final = re.compile(r"(?:\.\.|[…,;:、，；：–—-])[\s\"'”)]*$")  # noqa: RUF001
_ENDS: Final = re.compile(r"[.!?。！？؟।][\s\"'”)]*$")  # noqa: RUF001
_SMALL_NUMBER: Final = re.compile(r"\d{1,2}(?:[.:]\d\d)?")

_PREPOSITIONS = """
of to in on at by for from with about into over under between before after behind near than as
until towards through without during against like
"""
_AUXILIARIES = """
is are was were am be been do does did has have had will would shall should can could may might
must not don't can't won't doesn't didn't isn't aren't wasn't couldn't wouldn't
"""
_SUBJECTS = "i he she we they"
_DETERMINERS = "a an the my your his her its our their these every each"
_CLAUSES = "if when because although unless while since after before as once"
_OTHER_OPENINGS = """
and or but so whether who whose which what where very um uh uhm umm erm hmm well i'm i'd i'll i've
you're you'd you'll we're we'd we'll they're they'd he's she's it's there's let's
"""
# After these most sentences go on, and some end: "Who is that?", "That's what I think."
_MOSTLY_GO_ON = """
that this those some any no more most too just also then why how want need think tell give set
send show put get make let said call order buy bring find take open please last next new old first
same other whole own main best
"""
_DIGITS = "zero oh one two three four five six seven eight nine"
_ANSWERS = """
yes no yeah yep nope okay ok sure thanks thank you please stop hello hi hey bye goodbye right
maybe never not really of course alright great good perfect fine exactly correct wait help cancel
continue next back again nothing none more less later now today tomorrow tonight ten
"""
_PHRASES = """
i agree|i see|i do|i am|i don't know|i have no idea|i don't think so|i think so|i hope so
i like it|i love it|i'd love to|i'm fine|i'm fine thanks|i'm good|i'm not sure|i'm sorry|i'm done
yes i do|yes i am|yes it is|no i don't|no i'm not|no it isn't|it is|it isn't|it doesn't matter
that's all|that's it|that's right|that's fine|that's great|that's enough|that sounds good
sounds good|sounds great|never mind|go on|go ahead|say that again|say it again|tell me more
do it|do that|let's do that|let's go|start over|turn it on|turn it off|turn it up|turn it down
not yet|not at all|all right|of course not|me too|got it|no problem|no idea|why not|how much
how many|how come|how are you|what about you|and you|who are you|who is it|who's that|what's that
what is that|what is it|what do you mean|what can you do|is that all|are you sure|are you there
where are you from|can you help me|can you hear me|what time is it|good morning|good evening
good night|see you later|see you tomorrow|nice to meet you|you're welcome|be quiet
"""
# Without one of these even English is too short to be told from other languages.
_ENGLISH = """
the is i you my what of and to that it with have for can could would please how are this not your
if when he she they we there on at from like about um uh yes yeah okay thanks thank stop hello who
well where why which let's i'm i'd i'll i've it's that's what's don't can't
"""


def _set(*lists: str) -> frozenset[str]:
    return frozenset(" ".join(lists).split())


_IS_AUXILIARY, _IS_SUBJECT = map(_set, (_AUXILIARIES, _SUBJECTS))
_IS_DETERMINER, _IS_CLAUSE, _IS_DIGIT = map(_set, (_DETERMINERS, _CLAUSES, _DIGITS))
_GO_ON, _IS_ANSWER, _IS_ENGLISH = _set(_MOSTLY_GO_ON), _set(_ANSWERS, _DIGITS), _set(_ENGLISH)
_DANGLES = _set(_PREPOSITIONS, _AUXILIARIES, _SUBJECTS, _DETERMINERS, _CLAUSES, _OTHER_OPENINGS)
_IS_PHRASE = frozenset(re.split(r"[|\n]", _PHRASES.strip()))
_IS_FILLING = frozenset({("you", "know"), ("i", "mean"), ("kind", "of"), ("sort", "of")})
_IS_ASKING = _set("what who whose which where when why how")
# Those that questions end in most: "Where are you from?"
_STRANDS = _set("from for about like with at")
_IS_LINK = _set("and so but or well yes no okay oh")
# Thai; the letters of Chinese and Japanese come after it.
_FIRST_UNSPACED = "\u0e00"
_FEW_WORDS, _LONGEST_NOUN_WORDS, _LONGEST_CLAUSE_WORDS = 3, 6, 8


def words_say(text: str) -> Words:
    """Judge the end of a transcript; without words in it that is `Words.DOUBTFUL`."""
    words = [word.replace("’", "'").lower() for word in _WORD.findall(text)]  # noqa: RUF001
    has_mark = bool(_ENDS.search(text))
    if not words:
        return Words.DOUBTFUL
    if _GOES_ON.search(text):
        return Words.OPEN
    if _is_answer(words, has_mark=has_mark):
        return Words.ANSWER
    if not _IS_ENGLISH.isdisjoint(words) and is_english(text):
        return _sentence(text, words, has_mark=has_mark)
    return Words.PLAUSIBLE if has_mark else Words.DOUBTFUL


def _is_answer(words: list[str], *, has_mark: bool) -> bool:
    if has_mark and {" ".join(words), " ".join(_without_links(words))} & _IS_PHRASE:
        return True
    if len(words) == 1:
        return words[0] in _IS_ANSWER or _is_answer_alone(words[0], has_mark=has_mark)
    few = len(words) <= _FEW_WORDS
    is_choice = words[-1] in ("one", "ones") and words[0] in _IS_DETERMINER
    return few and (is_choice or all(word in _IS_ANSWER for word in words)) and not _counts(words)


def _is_answer_alone(word: str, *, has_mark: bool) -> bool:
    """A word alone is an answer more often than a beginning, where words have spaces between."""
    if word in _DANGLES or max(word) >= _FIRST_UNSPACED:
        return False
    return has_mark or bool(_SMALL_NUMBER.fullmatch(word))


def _without_links(words: list[str]) -> list[str]:
    return list(itertools.dropwhile(lambda word: word in _IS_LINK, words))


def _sentence(text: str, words: list[str], *, has_mark: bool) -> Words:
    asks = "?" in text[-3:]
    if tuple(words[-2:]) in _IS_FILLING:
        return Words.OPEN
    if words[-1] in _DANGLES:
        return Words.PLAUSIBLE if has_mark and _may_strand(words, asks=asks) else Words.OPEN
    is_begun = (
        not has_mark
        or words[-1] in _GO_ON
        or (words[-1] == "you" and words[-2:-1] and words[-2] in _IS_AUXILIARY)
        or _counts(words)
        or _is_list(text)
        or _is_clause(text, words, asks=asks)
        or _is_noun(words)
    )
    return Words.DOUBTFUL if is_begun else Words.PLAUSIBLE


def _may_strand(words: list[str], *, asks: bool) -> bool:
    """As "Where is she from?" and "Yes, she can." end in words that others don't end in."""
    if asks and words[-1] in _STRANDS:
        return words[0] in _IS_ASKING and len(words) > _FEW_WORDS
    is_reply = len(words) in (2, _FEW_WORDS) and words[-1] in _IS_AUXILIARY
    return is_reply and words[-2] in _IS_SUBJECT


def _counts(words: list[str]) -> bool:
    """A number is being said digit by digit, as in "Five, three"."""
    return len(words) > 1 and all(word in _IS_DIGIT or word.isdigit() for word in words[-2:])


def _is_list(text: str) -> bool:
    """There is no "and" yet, as in "I bought apples, bananas"."""
    *before, last = text.split(",")
    return bool(before) and len(last.split()) == 1 and len(text.split()) > _FEW_WORDS


def _is_clause(text: str, words: list[str], *, asks: bool) -> bool:
    """The main clause is still to come, as in "If it rains"."""
    begins = words[0] in _IS_CLAUSE or words[:3] == ["to", "be", "honest"]
    return begins and not asks and "," not in text and len(words) <= _LONGEST_CLAUSE_WORDS


def _is_noun(words: list[str]) -> bool:
    """There is no verb yet, as in "And the last train"."""
    rest = _without_links(words)
    names = bool(rest) and (rest[0] in _IS_DETERMINER or rest[0] == "which")
    has_verb = not (_IS_AUXILIARY | _IS_SUBJECT).isdisjoint(rest)
    return names and not has_verb and len(rest) <= _LONGEST_NOUN_WORDS
