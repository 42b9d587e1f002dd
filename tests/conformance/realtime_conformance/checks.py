"""How a test says which check it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AREAS", "CORE", "FULL", "Check", "check", "check_of"]

CORE = "core"
"""Every server that claims the protocol has to pass it."""
FULL = "full"
"""A server of the whole protocol passes it."""
AREAS = (
    "transport",
    "session",
    "input_audio_buffer",
    "conversation.item",
    "transcription",
    "response",
    "tools",
    "error",
)

_Test = TypeVar("_Test", bound="Callable[..., Any]")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the scorecard.

    Attributes:
        id: Area and number (or a word), as in ``session/12``, with the parameters of the test.
        level: ``core`` or ``full``.
        what: The rule that is checked, as a sentence.
    """

    id: str
    level: str
    what: str

    @property
    def area(self) -> str:
        """The part of the protocol."""
        return self.id.partition("/")[0]


def check(check_id: str, level: str) -> Callable[[_Test], _Test]:
    """Mark a test as a check.

    Args:
        check_id: Its area, a slash, and its number or a word.
        level: :data:`CORE` or :data:`FULL`.
    """
    assert check_id.partition("/")[0] in AREAS, check_id
    mark = pytest.mark.check(check_id, level)

    def marked(test: _Test) -> _Test:
        mark(test)
        return test

    return marked


def check_of(item: pytest.Item) -> Check | None:
    """Which check a test is; None if it is none."""
    mark = item.get_closest_marker("check")
    if mark is None:
        return None
    check_id, level = mark.args
    name = getattr(item, "originalname", None) or item.name
    what = name.removeprefix("test_").replace("_", " ")
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        check_id, what = f"{check_id}[{callspec.id}]", f"{what} [{callspec.id}]"
    return Check(check_id, level, what)
