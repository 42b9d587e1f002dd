"""The kinds of value that a setting can have: how each is read, checked and shown.

Flags and environment variables bring text, files bring TOML values, code brings Python
values; a kind accepts all three and ends in the same check. What does not fit raises
``ValueError``; the caller knows where the value came from and says so.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

__all__ = ["Choice", "Kind", "Seconds", "Size", "Text", "Url", "Whole", "Word"]

MIB: Final = 1024 * 1024
_UNITS: Final = {"": 1, "b": 1, "kib": 1024, "mib": MIB, "gib": 1024 * MIB}


class Kind(Protocol):
    """What one kind of value promises; ``ValueError`` is the answer to what does not fit."""

    @property
    def allowed(self) -> str:
        """What fits, in words that follow "must be"."""
        ...

    @property
    def metavar(self) -> str:
        """Placeholder for the value in help texts."""
        ...

    def read(self, text: str) -> object:
        """Turn the text of a flag or variable into a checked value."""
        ...

    def check(self, value: object) -> object:
        """Return the value as the settings hold it."""
        ...

    def show(self, value: object) -> str | int | float:
        """Return the value as a person would write it into a file."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Any text; empty only where that means something."""

    metavar: str = "TEXT"
    may_be_empty: bool = False

    @property
    def allowed(self) -> str:
        return "a text" if self.may_be_empty else "a text that is not empty"

    def read(self, text: str) -> str:
        return self.check(text)

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not (self.may_be_empty or value.strip()):
            raise ValueError(value)
        return value

    def show(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Word:
    """A name or address: text without white space."""

    metavar: str = "NAME"
    allowed: str = "a name without spaces"

    def read(self, text: str) -> str:
        return self.check(text)

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(r"\S+", value):
            raise ValueError(value)
        return value

    def show(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Url:
    """An ``http`` or ``https`` address with a host."""

    metavar: str = "URL"
    allowed: str = "an address that starts with http:// or https://"

    def read(self, text: str) -> str:
        return self.check(text)

    def check(self, value: object) -> str:
        if not isinstance(value, str) or re.search(r"\s", value):
            raise ValueError(value)
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(value)
        return value

    def show(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def metavar(self) -> str:
        return "|".join(self.options)

    @property
    def allowed(self) -> str:
        return f"one of {', '.join(self.options)}"

    def read(self, text: str) -> str:
        return self.check(text)

    def check(self, value: object) -> str:
        if value not in self.options:
            raise ValueError(value)
        return str(value)

    def show(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within limits."""

    least: int
    most: int
    metavar: str = "N"

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def read(self, text: str) -> int:
        return self.check(_int(text))

    def check(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(value)  # noqa: TRY004
        if not self.least <= value <= self.most:
            raise ValueError(value)
        return value

    def show(self, value: object) -> int:
        return self.check(value)


@dataclass(frozen=True, slots=True)
class Seconds:
    """A length of time."""

    least: float
    most: float
    metavar: str = "SECONDS"

    @property
    def allowed(self) -> str:
        return f"a number of seconds from {self.show(self.least)} to {self.show(self.most)}"

    def read(self, text: str) -> float:
        return self.check(float(text))

    def check(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(value)  # noqa: TRY004
        if not math.isfinite(value) or not self.least <= value <= self.most:
            raise ValueError(value)
        return float(value)

    def show(self, value: object) -> int | float:
        seconds = self.check(value)
        return int(seconds) if seconds.is_integer() else seconds


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes, as a number or with a unit (``32 MiB``)."""

    least: int
    most: int
    metavar: str = "SIZE"

    @property
    def allowed(self) -> str:
        least, most = self.show(self.least), self.show(self.most)
        return f"a size from {least} to {most}, in bytes or with a unit (KiB, MiB, GiB)"

    def read(self, text: str) -> int:
        return self.check(text)

    def check(self, value: object) -> int:
        size = _size(value) if isinstance(value, str) else value
        if isinstance(size, bool) or not isinstance(size, int):
            raise ValueError(value)  # noqa: TRY004
        if not self.least <= size <= self.most:
            raise ValueError(value)
        return size

    def show(self, value: object) -> str | int:
        size = self.check(value)
        for name, factor in (("GiB", 1024 * MIB), ("MiB", MIB), ("KiB", 1024)):
            if size % factor == 0:
                return f"{size // factor} {name}"
        return size


def _int(text: str) -> int:
    # int() alone would also take "1_000", " 7 " and digits of other scripts.
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", text):
        raise ValueError(text)
    return int(text)


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,15})\s*([A-Za-z]*)", text.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(text)
    return int(match[1]) * _UNITS[match[2].lower()]
