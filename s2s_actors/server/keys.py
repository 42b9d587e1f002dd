"""API keys: who may come in, and how much of the server is theirs.

A key file is TOML, one table for each key::

    [[key]]
    name = "kitchen"
    hash = "sha256:9f86d081..."
    max_sessions = 4
    sessions_per_minute = 30
    audio_minutes_per_hour = 120

It holds hashes only. Keys are made here and are long random strings, so a plain SHA-256 tells
nothing about them; what people think up would need a slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import tomllib
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ApiKey", "KeyRing", "hash_of", "new_secret", "read_keys"]

_PREFIX: Final = "sk-s2s-"
_SECRET_BYTES: Final = 32
_LONGEST_SECRET: Final = 512
"""No key is nearly as long; strangers can't make the server hash what they like."""
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_FLAG: Final = "--api-key-file"

Positive = Annotated[int, msgspec.Meta(gt=0)]


class ApiKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key, without what opens the door.

    Attributes:
        name: What the operator calls it; it appears in logs and figures.
        hash: ``sha256:`` and the hexadecimal digest of the secret.
        max_sessions: Sessions at a time; None for as many as there are units.
        sessions_per_minute: New sessions in any minute; None for any number.
        audio_minutes_per_hour: Audio taken in in any hour; None for any amount.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    hash: str
    max_sessions: Positive | None = None
    sessions_per_minute: Positive | None = None
    audio_minutes_per_hour: Positive | None = None

    def __repr__(self) -> str:
        return f"ApiKey({self.name!r})"


class _KeyFile(msgspec.Struct, forbid_unknown_fields=True):
    key: list[ApiKey]


class KeyRing:
    """The keys that are let in.

    Promises: how long a look takes says nothing about how much of a secret was right, nor
    which key it is; a secret is neither kept nor shown.
    """

    def __init__(self, keys: list[ApiKey]) -> None:
        self._keys = tuple(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, secret: str) -> ApiKey | None:
        """Whose secret it is, None if it is nobody's."""
        if len(secret) > _LONGEST_SECRET:
            return None
        given = hash_of(secret)
        found = None
        for key in self._keys:
            if hmac.compare_digest(key.hash, given):
                found = key
        return found

    def with_hash(self, hash_: str) -> ApiKey | None:
        """The key that has this hash, None if there is none (any more)."""
        return next((key for key in self._keys if key.hash == hash_), None)


def hash_of(secret: str) -> str:
    """What a key file has of a secret."""
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()}"


def new_secret() -> str:
    """A fresh secret of 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def read_keys(path: Path) -> KeyRing:
    """Read a key file.

    Raises:
        SetupError: It can't be read, or is no key file; the message names the place and never
            shows a value.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise SetupError(f"{_FLAG} {path}: {reason}") from None
    try:
        found = msgspec.convert(tomllib.loads(text), _KeyFile)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{_FLAG} {path}: no TOML ({error})") from None
    except msgspec.ValidationError as error:
        raise SetupError(f"{_FLAG} {path}: {error}") from None
    _check(path, found.key)
    return KeyRing(found.key)


def _check(path: Path, keys: list[ApiKey]) -> None:
    if not keys:
        raise SetupError(f"{_FLAG} {path}: there is no key in it")
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if not _HASH.fullmatch(key.hash):
            raise SetupError(
                f"{_FLAG} {path}: hash of key {index + 1} is not 'sha256:' and 64 hexadecimals",
                hint="s2s-actors key makes a key and prints the lines for the file",
            )
        for value in (f"name {key.name!r}", f"hash of {key.name!r}"):
            if value in seen:
                raise SetupError(f"{_FLAG} {path}: {value} is there twice")
            seen.add(value)
