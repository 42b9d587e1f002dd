"""Client secrets: what a key may do, lent for minutes to who must not have the key itself."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from s2s_actors.server.keys import hash_of
from s2s_actors.server.limits import Denied

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.server.keys import ApiKey, KeyRing

__all__ = ["MOST_PER_KEY", "PREFIX", "ClientSecrets", "Lent"]

PREFIX: Final = "ek_"
"""As OpenAI's begin; its client for browsers looks for that."""
MOST_PER_KEY: Final = 1000
"""That are valid at a time: one for each unit of a large server, and its settings in memory."""
_SECRET_BYTES: Final = 32
_LONGEST_VALUE: Final = 128
"""None is nearly as long; strangers can't make the server hash what they like."""


@dataclass(frozen=True, slots=True)
class Lent:
    """What a client secret stands for.

    Attributes:
        key: The key that it was made with, as it is now; None if nobody needs one.
        settings_json: How sessions begin: an object as in ``session.update``, known to be
            acceptable.
    """

    key: ApiKey | None
    settings_json: bytes = field(repr=False)

    def settings(self) -> dict[str, Any]:
        """The settings, made anew for each session that changes them."""
        settings: dict[str, Any] = msgspec.json.decode(self.settings_json)
        return settings


@dataclass(frozen=True, slots=True)
class _Loan:
    owner: str | None  # the hash of its key: a name may be given to another one
    expires_s: float
    settings_json: bytes = field(repr=False)


class ClientSecrets:
    """Knows the client secrets that are valid.

    Promises: a secret itself is neither kept nor shown, only its hash is; it opens nothing once
    its time is over or its key is gone; each key has a bounded number of them. Nothing survives
    the process. Belongs to the event loop.

    Args:
        now_s: The process's monotonic clock.
        most: How many may be valid for one key.
    """

    def __init__(self, now_s: Callable[[], float], most: int = MOST_PER_KEY) -> None:
        self._now_s = now_s
        self._most = most
        self._loans: dict[str, _Loan] = {}

    def lend(self, key: ApiKey | None, lifetime_s: float, settings_json: bytes) -> str | Denied:
        """A fresh secret, or why there is none now.

        Args:
            key: Whose limits its sessions count against; None if nobody needs a key.
            lifetime_s: How long it opens sessions, which may go on after that.
            settings_json: How they begin.
        """
        now_s, owner = self._now_s(), None if key is None else key.hash
        # Here and not by a timer: what has expired opens nothing, and is in nobody's way.
        self._loans = {each: loan for each, loan in self._loans.items() if loan.expires_s > now_s}
        ends_s = [loan.expires_s for loan in self._loans.values() if loan.owner == owner]
        if len(ends_s) >= self._most:
            text = f"There are {self._most} client secrets of this key that are still valid."
            wait_s = min(ends_s) - now_s
            return Denied("rate_limit_exceeded", "key_client_secrets", text, wait_s)
        value = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        self._loans[hash_of(value)] = _Loan(owner, now_s + lifetime_s, settings_json)
        return value

    def find(self, value: str, keys: KeyRing | None) -> Lent | None:
        """What a secret stands for, None if it opens nothing (any more).

        Args:
            value: What a client has sent.
            keys: Those that are let in by now.
        """
        if len(value) > _LONGEST_VALUE:
            return None
        loan = self._loans.get(hash_of(value))
        if loan is None or loan.expires_s <= self._now_s():
            return None
        if keys is None or loan.owner is None:
            return Lent(None, loan.settings_json) if keys is None and loan.owner is None else None
        key = keys.with_hash(loan.owner)
        return None if key is None else Lent(key, loan.settings_json)
