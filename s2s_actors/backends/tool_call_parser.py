"""Finds function calls in the text that a chat model writes, as it writes it.

Many open models (Hermes, Qwen, SmolLM) call a function by writing::

    <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>

The parser is pure: text goes in piece by piece, spoken text and calls come out, the same
however the text is cut.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OPENING", "ParsedCall", "ParsedText", "ToolCallParser", "written_call"]

OPENING: Final = "<tool_call>"
CLOSING: Final = "</tool_call>"


@dataclass(frozen=True, slots=True)
class ParsedText:
    """Text outside calls."""

    text: str


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A complete call; ``arguments`` is JSON text."""

    name: str
    arguments: str


Parsed: TypeAlias = ParsedText | ParsedCall


def written_call(name: str, arguments: str) -> str:
    """A call as the model would write it, for the chat history."""
    return f'{OPENING}{{"name": {json.dumps(name)}, "arguments": {arguments or "{}"}}}{CLOSING}'


class ToolCallParser:
    """Splits a stream of text into what is said and what is called.

    Text is let through at once, but for a tail that may turn out to open a call. A call comes
    out when it is complete. What stands between the marks and is no call is dropped: nobody
    wants to hear broken JSON.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False

    def feed(self, text: str) -> Iterator[Parsed]:
        """Take the next piece; yield what is certain by now."""
        self._pending += text
        while True:
            parsed = self._call() if self._inside else self._text()
            if parsed is None:
                return
            if not isinstance(parsed, ParsedText) or parsed.text:
                yield parsed

    def finish(self) -> Iterator[Parsed]:
        """The text is over: yield what was held back; models forget closing marks."""
        if self._inside:
            call = _parse_call(self._pending)
            if call is not None:
                yield call
        elif self._pending:
            yield ParsedText(self._pending)
        self._pending = ""
        self._inside = False

    def _text(self) -> Parsed | None:
        if not self._pending:
            return None
        said, mark, rest = self._pending.partition(OPENING)
        if mark:
            self._pending, self._inside = rest, True
            return ParsedText(said)
        held = _overlap(self._pending, OPENING)
        certain = self._pending[: len(self._pending) - held]
        self._pending = self._pending[len(certain) :]
        return ParsedText(certain) if certain else None

    def _call(self) -> Parsed | None:
        # The mark may also stand inside a string of the call: the first mark that leaves
        # valid JSON before it is the closing one, else the first.
        first = self._pending.find(CLOSING)
        end = first
        while end >= 0:
            call = _parse_call(self._pending[:end])
            if call is not None:
                self._close(end)
                return call
            end = self._pending.find(CLOSING, end + 1)
        if first < 0 or _ends_in_string(self._pending[:first]):
            return None
        self._close(first)
        return ParsedText("")

    def _close(self, end: int) -> None:
        self._pending = self._pending[end + len(CLOSING) :]
        self._inside = False


def _parse_call(written: str) -> ParsedCall | None:
    try:
        value = json.loads(written)
    except ValueError:
        return None
    match value:
        case {"name": str(name), "arguments": dict(arguments)} if name:
            return ParsedCall(name, json.dumps(arguments, ensure_ascii=False))
        case {"name": str(name)} if name and "arguments" not in value:
            return ParsedCall(name, "{}")
    return None


def _ends_in_string(written: str) -> bool:
    """Whether JSON text breaks off inside a string."""
    inside = escaped = False
    for char in written:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = inside
        elif char == '"':
            inside = not inside
    return inside


def _overlap(text: str, mark: str) -> int:
    """Length of the longest end of ``text`` that ``mark`` begins with, short of all of it."""
    longest = min(len(text), len(mark) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(mark[:size])), 0)
