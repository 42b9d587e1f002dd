"""How long a silence has to last to end a turn, by how the speech sounds and by its words.

Measured with Smart Turn v3.2 and Whisper tiny.en on what is heard 96 or 128 ms after the last
sound, in noise of -60 to -50 dB: 126 sentences and 60 short answers of one synthetic voice at
several pitches and speeds, 186 places inside such sentences (at commas, within clauses, after
small words) and 24 hesitations ("um"). Waits of 200 ms, as shares of each:

========================  =========  =======  ================  ===========
Rule                      sentences  answers  inside (cut off)  hesitations
========================  =========  =======  ================  ===========
both, ``auto``            63 %       82 %     5 %               0 %
both, ``high``            75 %       87 %     14 %              0 %
sound alone, from 0.5     78 %       87 %     55 %              4 %
sound alone, from 0.98    29 %       18 %     10 %              0 %
words alone               97 %       93 %     46 %              29 %
========================  =========  =======  ================  ===========

``low`` ends nothing before 400 ms, and cuts off 4 % of the longer pauses. What is cut off is
often a sentence by itself ("When does the next bus to the city centre?"). The length of the speech
tells much, for a sentence breaks off at any place and ends late: of the pauses after 2 s of
speech 19 % are cut off, of the earlier ones 2 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from s2s_actors.protocol.finished_words import Words, words_say

__all__ = ["Eagerness", "longest_silence_ms", "silence_needed_ms"]

Eagerness: TypeAlias = Literal["low", "medium", "high", "auto"]


@dataclass(frozen=True, slots=True)
class _Patience:
    """What an eagerness means.

    Attributes:
        finished_ms: Wait where sound and words agree that all has been said.
        doubt_ms: Wait where they do not.
        open_ms: Wait where one of them says that more is to come.
        unfinished_ms: Wait where both do.
        sure: Score of a sentence that sounds finished.
        sure_if_long: The same, after long speech.
        enough_ms: Shorter speech is finished only if it is a usual answer.
    """

    finished_ms: int
    doubt_ms: int
    open_ms: int
    unfinished_ms: int
    sure: float
    sure_if_long: float
    enough_ms: int


_MEDIUM: Final = _Patience(200, 800, 1600, 4000, 0.985, 0.6, 1400)
_PATIENCE: Final[dict[Eagerness, _Patience]] = {
    "low": _Patience(400, 1200, 3000, 8000, 0.985, 0.9, 1400),
    "medium": _MEDIUM,
    "auto": _MEDIUM,
    "high": _Patience(200, 550, 1000, 2000, 0.9, 0.4, 900),
}
_LONG_SPEECH_MS: Final = 2000
# By sound alone.
_SURE_WITHOUT_WORDS: Final = 0.985
# Less was scored by 3 % of the ends, 67 % of the hesitations and 11 % of the other pauses.
_HESITATES: Final = 0.02
_MAY_END: Final = 0.5


def longest_silence_ms(eagerness: Eagerness) -> int:
    """After so long a silence a turn is over, whatever was said."""
    return _PATIENCE[eagerness].unfinished_ms


def silence_needed_ms(
    completeness: float | None, words: str | None, eagerness: Eagerness, speech_ms: int
) -> int:
    """How long the silence has to be, by what is known now.

    A higher score or longer speech never makes it longer.

    Args:
        completeness: Probability that the speech is finished by its sound (0..1), None while
            it is not known.
        words: What has been said so far, None while it is not known.
        eagerness: As in the session's ``semantic_vad``.
        speech_ms: How long the utterance is, without the silence and the padding around it;
            400 ms too much double the share of pauses that are cut off.

    Returns:
        Milliseconds since the last speech.
    """
    patience = _PATIENCE[eagerness]
    said = words_say(words) if words is not None and words.strip() else None
    if _is_finished(completeness, said, patience, speech_ms):
        return patience.finished_ms
    signs = _signs_of_more(completeness, said)
    return (patience.doubt_ms, patience.open_ms, patience.unfinished_ms)[signs]


def _is_finished(
    completeness: float | None, said: Words | None, patience: _Patience, speech_ms: int
) -> bool:
    if said is Words.ANSWER:
        # Too short to tell by the sound.
        return completeness is None or completeness >= _HESITATES
    if completeness is None:
        return False
    is_long = speech_ms >= _LONG_SPEECH_MS
    if said is None:
        return is_long and completeness >= _SURE_WITHOUT_WORDS
    sure = patience.sure_if_long if is_long else patience.sure
    return said is Words.PLAUSIBLE and speech_ms >= patience.enough_ms and completeness >= sure


def _signs_of_more(completeness: float | None, said: Words | None) -> int:
    """How many of sound and words say that more is to come."""
    score = 1.0 if completeness is None else completeness
    if said is Words.OPEN:
        return 2 if score < _MAY_END else 1
    if said is Words.DOUBTFUL:
        return 2 if score < _HESITATES else 0
    return 1 if score < _HESITATES else 0
