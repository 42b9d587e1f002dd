"""Watches several sessions for anything that leaks from one into another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID_FIELDS = frozenset(
    {"event_id", "id", "item_id", "previous_item_id", "response_id", "conversation_id", "call_id"}
)
_NOT_TEXT = frozenset({"audio"})


class CrossSessionChecker:
    """I11: no id and no canary word of one session ever appears in another.

    What a client itself has sent may come back to it, wherever else it has been seen.
    """

    def __init__(self) -> None:
        self._owner: dict[str, str] = {}
        self._own_words: dict[str, list[str]] = {}
        self._canaries: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def canary(self, session: str, word: str) -> None:
        """``word`` belongs to ``session``; it must be rare enough not to come up by chance."""
        self._canaries[word.casefold()] = session
        self._pattern = None

    def client(self, session: str, event: object) -> None:
        """The client of ``session`` sends this."""
        self._own_words.setdefault(session, []).extend(text for _, text in _strings(event))

    def server(self, session: str, event: dict[str, Any]) -> None:
        """The client of ``session`` receives this.

        Raises:
            AssertionError: Something in it belongs to another session.
        """
        for field, text in _strings(event):
            if field in _ID_FIELDS:
                self._check_id(session, field, text, event)
            if event.get("type") != "response.output_audio.delta":
                self._check_words(session, text, event)

    def _check_id(self, session: str, field: str, value: str, event: dict[str, Any]) -> None:
        if value in self._own_words.get(session, ()):
            return
        owner = self._owner.setdefault(value, session)
        if owner != session:
            raise AssertionError(
                f"I11: {field} {value} of session {owner} appears in session {session}: "
                f"{str(event)[:400]}"
            )

    def _check_words(self, session: str, text: str, event: dict[str, Any]) -> None:
        if self._pattern is None:
            words = sorted(self._canaries, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, words)) or r"(?!)")
        for match in self._pattern.finditer(text.casefold()):
            owner = self._canaries[match.group()]
            said_it = any(match.group() in own.casefold() for own in self._own(session))
            if owner != session and not said_it:
                raise AssertionError(
                    f"I11: canary {match.group()!r} of session {owner} appears in session "
                    f"{session}: {str(event)[:400]}"
                )

    def _own(self, session: str) -> list[str]:
        return self._own_words.get(session, [])


def _strings(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            if name not in _NOT_TEXT:
                yield from _strings(entry, name)
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry, field)
