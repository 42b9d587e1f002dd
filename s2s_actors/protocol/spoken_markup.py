"""Takes markup off a piece of text that is to be spoken: Markdown, HTML and addresses."""

from __future__ import annotations

import html
import re

_CODE_BLOCK = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_TAG = re.compile(
    r"</?(?:a|b|blockquote|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|s|small|span|strong|sub|sup"
    r"|table|tbody|td|th|thead|tr|u|ul)(?:\s+[\w-]+=[^<>]*)?\s*/?>|<!--.*?-->",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*(?:(?:[-*_]\s*){3,}|={3,}|\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*")
_BULLET = re.compile(r"\s*[-*+•‣◦]\s+(?:\[[ xX]\]\s+)?(.*)")
_NUMBER = re.compile(r"\s*[*_]*(\d{1,3})[.)]\s+(.*)")
_ROW = re.compile(r"\s*\|(.*?)\|?\s*")
_QUOTE = re.compile(r"(?:\s{0,3}>\s?)+")

_TIMES = re.compile(
    r"(?<=[\w)])\s+\*\s+(?=[\w(])|(?<=[\d)])\*(?=[\w(])"
    r"|(?<=\b[A-Za-z])\*(?=[\d(]|[A-Za-z]\b)"
)
# Of an address the host is enough.
_ADDRESS = re.compile(
    r"<?\bhttps?://(?:www\.)?([^\s/?#<>)]*[^\W_])[^\s<>)]*?([.,;:!?]*)(?=[\s<>)]|$)>?"
)
_INLINE = (
    (re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])"), r"\1"),
    # The end of a link that begins in the piece before.
    (re.compile(r"\]\([^()\s]*\)"), ""),
    (re.compile(r"\[\^\w+\]"), ""),
    # A formula, not two prices.
    (re.compile(r"(\$\$?)([^\s$\d](?:[^$]*[^\s$])?)\1(?!\d)"), r"\2"),
    (_ADDRESS, r"\1\2"),
    (re.compile(r"\bwww\.(?=\w)"), ""),
    (re.compile(r"<([^\s<>@]+@[^\s<>@]+)>"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])"), r"\1"),
    (re.compile(r"\\"), " "),
    # Stars that multiply, or raise to a power, stay; all others are emphasis.
    (re.compile(r"(?<=[\d)])\*\*(?=[\d(])"), "^"),
    (_TIMES, " \u00d7 "),
    (re.compile(r"\*+|`+|~~+"), ""),
    (re.compile(r"(?<=[^\W_])_+(?=[^\W_])"), " "),
    (re.compile(r"_+"), ""),
)
_STRUCTURED, _PLAIN = ".", ","


def without_markup(text: str) -> str:
    """The text in one line, with full stops and commas where lines ended.

    Blocks of code are left out, and so are marks whose partner is in another piece.
    """
    text = _CODE_BLOCK.sub("\n", text)
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), _TAG.sub(" ", text))
    said = ""
    for line in text.splitlines():
        words, pause = _line(line)
        if not words:
            continue
        said = f"{_paused(said, _PLAIN)} {words}" if said else words
        if pause == _STRUCTURED:
            said = _paused(said, pause)
    return said


def _paused(text: str, pause: str) -> str:
    return text if not text[-1].isalnum() and text[-1] not in ")%" else text + pause


def _line(line: str) -> tuple[str, str]:
    """What to say of a line, and how it ends if it has no mark at its end."""
    if _RULE.fullmatch(line):
        return "", _PLAIN
    line = _QUOTE.sub("", line, count=1) if _QUOTE.match(line) else line
    if row := _ROW.fullmatch(line):
        cells = filter(None, (_inline(cell) for cell in row[1].split("|")))
        return ", ".join(cells), _STRUCTURED
    if number := _NUMBER.fullmatch(line):
        return f"{number[1]}, {_inline(number[2])}", _STRUCTURED
    if item := _HEADING.fullmatch(line) or _BULLET.fullmatch(line):
        return _inline(item[1]), _STRUCTURED
    return _inline(line), _PLAIN


def _inline(text: str) -> str:
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return text.strip()
