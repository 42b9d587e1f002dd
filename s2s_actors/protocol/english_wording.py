"""English words for signs and shortenings that voices misread, and when to use them."""

from __future__ import annotations

import re
from itertools import starmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ENGLISH = """
the an and or is are was of to in it you your that for with this on at be have has can i i'm
it's from by not what how we they he she about which if so do my
"""
_OTHERS = """
der die das und ist nicht ein eine ich es zu den dem mit auf für wir sie kostet uhr
le la les et est un une des du je il dans pour que vous nous pas
el los las en por con se su lo para como más esta
gli di che per non sono è della nel
de het een van niet met voor os um uma da em não com
och att det som på är jeg og til jest nie na się
"""
_COMMON_ENGLISH, _COMMON_ELSEWHERE = frozenset(_ENGLISH.split()), frozenset(_OTHERS.split())
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")

# The apostrophe, and micro in units.
_ASCII_TOO = str.maketrans("\u2019\u00b5\u03bc", "'uu")

_MONTH_NAMES = """
January February March April May June July August September October November December
"""
_MONTHS = _MONTH_NAMES.split()
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_SCALES = {
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "trillion": "trillion",
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "bn": "billion",
    "B": "billion",
}
_UNITS = {
    "km/h": "kilometers per hour",
    "m/s": "meters per second",
    "mph": "miles per hour",
    "km²": "square kilometers",
    "m²": "square meters",
    "m³": "cubic meters",
    "km": "kilometers",
    "cm": "centimeters",
    "mm": "millimeters",
    "kg": "kilograms",
    "mg": "milligrams",
    "ml": "milliliters",
    "lbs": "pounds",
    "lb": "pounds",
    "oz": "ounces",
    "ft": "feet",
}


def is_english(text: str) -> bool:
    """Guess whether English words would fit into the text.

    True for text without words too, such as ``3 < 4``. Few words decide, so a short piece in
    another language that has none of its most common ones is taken for English.
    """
    found = (word.lower().translate(_ASCII_TOO) for word in _WORD.findall(text))
    words = [word for word in found if len(word) > 1 and word.replace("'", "").isalpha()]
    odd = sum(not word.isascii() for word in words)
    here = sum(word in _COMMON_ENGLISH for word in words)
    elsewhere = sum(word in _COMMON_ELSEWHERE for word in words)
    return here >= odd + elsewhere


def in_english(text: str) -> str:
    """The text with words for its signs."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _date(match: re.Match[str]) -> str:
    return f"{_MONTHS[int(match['month']) - 1]} {int(match['day'])}, {match['year']}"


def _money(match: re.Match[str]) -> str:
    amount, cents, scale = match["amount"], match["cents"], match["scale"]
    unit = _CURRENCIES[match["sign"]]
    if unit != "yen" and (amount != "1" or scale):
        unit += "s"
    if scale:
        return f"{amount}{'.' + cents if cents else ''} {_SCALES[scale]} {unit}"
    return f"{amount} {unit} {int(cents)}" if cents and int(cents) else f"{amount} {unit}"


def _range(match: re.Match[str]) -> str:
    low, high = (float(match[name].replace(":", ".").replace(",", "")) for name in ("low", "high"))
    if low >= high:
        return f"{match['low']} {match['high']}"
    return f"{match['low']} to {match['high']}"


def _month(match: re.Match[str]) -> str:
    return next(month for month in _MONTHS if month.startswith(match[1][:3]))


def _digits(match: re.Match[str]) -> str:
    return ", ".join(" ".join(group) for group in re.findall(r"\d+", match[0]))


def _roman(match: re.Match[str]) -> str:
    ones = match["roman"].replace("IX", "VIIII").replace("IV", "IIII")
    return f"{match['word']} {10 * ones.count('X') + 5 * ones.count('V') + ones.count('I')}"


def _unit(match: re.Match[str]) -> str:
    unit = _UNITS[match["unit"]]
    return f"{match['number']} {unit}"


def _power(match: re.Match[str]) -> str:
    named = {"2": " squared", "²": " squared", "3": " cubed", "³": " cubed"}
    return named.get(match[1], f" to the power of {match[1]}")


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,4}(?:[.:]\d{1,2})?)"
_Rule = tuple[str, "str | Callable[[re.Match[str]], str]"]
_SOURCES: tuple[_Rule, ...] = (
    # A voice takes the groups of a telephone number for numbers.
    (r"(?<=\+)\d{1,3}(?:[ -]?\(?\d{1,4}\)?){2,5}(?!\w)", _digits),
    (r"(?<![\w-])(?:\(?\d{3}\)?[ -])?\d{3}-\d{4}(?![\w-])", _digits),
    (r"\b(?P<word>[A-Z][a-z]+) (?=[IVX]{2})(?P<roman>X{0,2}(?:IX|IV|V?I{0,3}))\b", _roman),
    (r"\b(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])\b", _date),
    (r"(?<=\d)\s?[-\u2013]\s?(?=[$€£¥₹]\s?\d)", " to "),
    (
        (
            r"(?P<sign>[$€£¥₹])\s?(?P<amount>\d+(?:,\d{3})*)(?:\.(?P<cents>\d{1,2}))?(?![\d,.]*\d)"
            rf"(?:\s?(?P<scale>{'|'.join(_SCALES)})\b)?"
        ),
        _money,
    ),
    (r"(?<=\d)\s?\$", " dollars"),
    (
        (
            rf"(?<![\d.,:/-])(?P<low>{_NUMBER})(?:-|\s?\u2013\s?)"
            rf"(?P<high>{_NUMBER})(?![\d:/-]|[.,]\d)"
        ),
        _range,
    ),
    (
        (
            r"(?<![\w.,])(?P<number>\d[\d.,]*)\s?"
            rf"(?P<unit>{'|'.join(map(re.escape, _UNITS))})(?![\w/²³])"
        ),
        _unit,
    ),
    (r"°\s?C\b", " degrees Celsius"),
    (r"°\s?F\b", " degrees Fahrenheit"),
    (r"(?<=[\w)])\s?\^\s?\(?(\w+)\)?", _power),
    (r"(?<=[A-Za-z\d)])([²³])", _power),
    (r"\s*(?:<=|≤)\s*", " is at most "),
    (r"\s*(?:>=|≥)\s*", " is at least "),
    (r"\s*(?:!=|≠)\s*", " is not equal to "),
    (r"\s*(?:[-=]+>|→|⇒|➔)\s*", " to "),
    (r"(?<=[\w)])\s*<\s*(?=[\w(])", " is less than "),
    (r"(?<=[\w)])\s*>\s*(?=[\w(])", " is greater than "),
    (r"(?<=\w)/(?=(?:second|minute|hour|day|week|month|year|person)\b)", " per "),
    (r"\b(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?=\s+\d)", _month),
    (r"~\s?(?=[\d$€£])", "about "),
    (r"\b([CF])#", r"\1 sharp"),
    (r"(?<!\w)(?:#|№\s?|[Nn]o\.\s?)(?=\d)", "number "),
    (r"\bvs\.", "versus"),
    (r"\b([ap])\.m\.(?=\s+\S)", r"\1m"),
    (r"(?<=\d)\s(?=[½¼¾⅓⅔⅛⅜⅝⅞])", " and "),
)
_RULES = tuple(starmap(lambda source, word: (re.compile(source), word), _SOURCES))
