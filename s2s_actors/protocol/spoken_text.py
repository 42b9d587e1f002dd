"""What to say instead of what is written."""

from __future__ import annotations

import re
import unicodedata

from s2s_actors.protocol.english_wording import in_english, is_english
from s2s_actors.protocol.spoken_markup import without_markup

# Signs of Unicode's class "other symbol" that voices read well; the rest are pictographs,
# whose names would be read out.
_READ_WELL = frozenset("°№℃℉©")
_PICTOGRAPHS_FROM = 0x2000
_KEYCAP = re.compile(r"([\d#*])\ufe0f?\u20e3")
# What holds pictographs together: joiners, variants and skin tones, and the letters of flags.
_GLUE = re.compile(
    "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
    "|\u200d(?=[\u2000-\u2bff\U0001f000-\U0001faff])"
)
_FRACTION = re.compile(r"(?<![\d/.,])([1-7])/([2-8])(?![\d/]|[.,]\d)")
_FRACTIONS = {
    unicodedata.normalize("NFKC", sign).replace("\u2044", "/"): sign for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}

# A hyphen is not read as minus; this sign is, in every language.
_MINUS = re.compile(
    r"(?<=[\d)²³])\s+-\s+(?=[\d(]|[a-z]\b)|(?<=\b[a-z])\s+-\s+(?=[\d(]|[a-z]\b)"
    r"|(?<![\w.)])-(?=\d)"
)
_HEART = re.compile(r"(?<=[a-z]{2}\s)<3(?![\d.,])")
# A full stop within a name would be a pause.
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}(?=\s+[A-Z])")
_SIGNS = (
    (re.compile(r"(?<=\d)-(?=\d)"), " "),
    (re.compile(r"\b(\d{1,4})/(\d{1,2})/(\d{1,4})\b"), r"\1 \2 \3"),
    (re.compile(r"\b(24)/(7)\b|\b(9)/(11)\b"), r"\1\3 \2\4"),
    (re.compile(r"([$€£¥₹])\s?(\d[\d.,]*\d|\d)"), r"\2 \1"),
    (re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])"), " "),
    # The same goes for these.
    (re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr)\.(?=\s+\w)"), r"\1"),
    (re.compile(r"\s*\u2014+\s*|\s+[-\u2013]+(?:\s+|$)|\s*(?:\.{2,}|…)(?=\s+\S)"), ", "),
    (re.compile(r"\.{2,}|…"), "."),
    (re.compile(r"!*\?[!?]*"), "?"),
    (re.compile(r"!{2,}"), "!"),
    (re.compile(r"[#|~<>{}\\^]+"), " "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"\s+([,.;:!?](?:\s|$))"), r"\1"),
    (re.compile(r"([,;:]\s?)+(?=[,;:.!?](?:\s|$))"), ""),
    (re.compile(r"^[\s,.;:!?)\]}»\u201d\u2019-]+"), ""),
)


def spoken(text: str) -> str:
    """Turn a piece of an answer into what a voice is to say.

    Markup, pictographs and blocks of code are left out; signs that a voice would skip or
    misread become signs or words that it reads. English words are put into English text and
    into text without words only; in other languages such signs are left to the voice.

    Args:
        text: A piece as it is written, which may begin or end inside a pair of marks.

    Returns:
        One line of text; empty if there is nothing to say.
    """
    said = _without_pictographs(without_markup(text))
    said = _MINUS.sub(_minus, _HEART.sub(" ", said))
    said = _INITIALS.sub(lambda match: " ".join(match[0].split(".")).strip(), said)
    said = _FRACTION.sub(lambda match: _FRACTIONS.get(match[0], match[0]), said)
    if is_english(said):
        said = in_english(said)
    for pattern, replacement in _SIGNS:
        said = pattern.sub(replacement, said)
    said = said.strip()
    return said if any(char.isalnum() for char in said) else ""


def _without_pictographs(text: str) -> str:
    text = _GLUE.sub("", _KEYCAP.sub(r"\1", text))
    return "".join(" " if _is_unspeakable(char) else char for char in text)


def _is_unspeakable(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "So":
        return (ord(char) >= _PICTOGRAPHS_FROM and char not in _READ_WELL) or char == "®"
    return category in {"Cc", "Co", "Cs"}


def _minus(match: re.Match[str]) -> str:
    return " \u2212 " if match[0][0].isspace() else "\u2212"
