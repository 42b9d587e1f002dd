"""What a key has used, and whether it may have more."""

from __future__ import annotations

import logging
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.tally import Tally
    from s2s_actors.server.keys import ApiKey

__all__ = ["Denied", "Limits", "Visit"]

logger = logging.getLogger(__name__)

_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_BUSY_RETRY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Denied:
    """Why a key gets nothing now.

    Attributes:
        code: As the protocol has it.
        reason: Which limit it is, for the figures.
        message: For the client; it names the limit, and no key.
        retry_after_s: When to come back.
    """

    code: Literal["session_limit_reached", "rate_limit_exceeded"]
    reason: Literal[
        "key_sessions", "key_sessions_per_minute", "key_audio_minutes", "key_client_secrets"
    ]
    message: str
    retry_after_s: float

    @property
    def text(self) -> str:
        """The message with the advice when to come back."""
        return f"{self.message} Try again in {math.ceil(self.retry_after_s)} s."


@dataclass(slots=True)
class _Use:
    """What one key has used. Times on the monotonic clock, oldest first."""

    sessions: int = 0
    begun_s: deque[float] = field(default_factory=deque)
    audio: deque[tuple[float, float]] = field(default_factory=deque)
    audio_s: float = 0.0


class Limits:
    """Keeps every key within its limits.

    Promises: what is counted by :meth:`enter` is given back by one :meth:`leave`; what
    a key has used is kept when the key file is read again; memory is bounded by the limits
    themselves. Belongs to the event loop.

    Args:
        now_s: The process's monotonic clock.
        tally: Counts who is denied.
    """

    def __init__(self, now_s: Callable[[], float], tally: Tally) -> None:
        self._now_s = now_s
        self._tally = tally
        self._uses: dict[str, _Use] = {}

    def enter(self, key: ApiKey) -> Denied | None:
        """Begin a session, or say why not; then nothing is counted."""
        use = self._uses.setdefault(key.name, _Use())
        now_s = self._now_s()
        _forget(use, now_s)
        denied = _denied(key, use, now_s)
        if denied is None:
            use.sessions += 1
            if key.sessions_per_minute is not None:
                use.begun_s.append(now_s)
        else:
            self._tally.refused(denied.reason)
        return denied

    def leave(self, key: ApiKey) -> None:
        """A session is over."""
        use = self._uses[key.name]
        use.sessions -= 1
        if use == _Use():
            del self._uses[key.name]

    def heard(self, key: ApiKey, audio_s: float) -> Denied | None:
        """Count audio that came in; what is over the limit is denied and not counted."""
        if key.audio_minutes_per_hour is None:
            return None
        use = self._uses.setdefault(key.name, _Use())
        now_s = self._now_s()
        _forget(use, now_s)
        if use.audio_s + audio_s > key.audio_minutes_per_hour * _MINUTE_S:
            self._tally.refused("key_audio_minutes")
            logger.info("key %r has no more audio for now", key.name)
            oldest_s = use.audio[0][0] if use.audio else now_s
            return _too_much_audio(key, oldest_s + _HOUR_S - now_s)
        # One entry a second at most: appends are small, and an hour has many.
        if use.audio and now_s - use.audio[-1][0] < 1.0:
            began_s, before_s = use.audio.pop()
            use.audio.append((began_s, before_s + audio_s))
        else:
            use.audio.append((now_s, audio_s))
        use.audio_s += audio_s
        return None


class Visit:
    """What one session uses of its key.

    Promises: what :meth:`begin` has counted is given back once, however often :meth:`end` is
    called. A session keeps the limits that its key had when it came.

    Args:
        limits: Those of the listener.
        key: None if nobody needs one; then nothing is counted.
    """

    def __init__(self, limits: Limits, key: ApiKey | None) -> None:
        self._limits = limits
        self._key = key
        self._runs = False

    @property
    def name(self) -> str:
        """Whose it is, for the log."""
        return "nobody" if self._key is None else self._key.name

    def begin(self) -> Denied | None:
        """Begin the session, or say why not."""
        if self._key is None:
            return None
        denied = self._limits.enter(self._key)
        self._runs = denied is None
        return denied

    def heard(self, audio_s: float) -> Denied | None:
        """Count audio before it is passed on, or say why it may not be."""
        return None if self._key is None else self._limits.heard(self._key, audio_s)

    def end(self) -> None:
        """The session is over."""
        if self._runs and self._key is not None:
            self._runs = False
            self._limits.leave(self._key)


def _forget(use: _Use, now_s: float) -> None:
    while use.begun_s and now_s - use.begun_s[0] >= _MINUTE_S:
        use.begun_s.popleft()
    while use.audio and now_s - use.audio[0][0] >= _HOUR_S:
        use.audio_s -= use.audio.popleft()[1]
    if not use.audio:
        use.audio_s = 0.0  # of many small sums something may be left over


def _denied(key: ApiKey, use: _Use, now_s: float) -> Denied | None:
    if key.max_sessions is not None and use.sessions >= key.max_sessions:
        text = f"This key has {key.max_sessions} sessions at a time, and all of them run."
        return Denied("session_limit_reached", "key_sessions", text, _BUSY_RETRY_S)
    if key.sessions_per_minute is not None and len(use.begun_s) >= key.sessions_per_minute:
        text = f"This key may begin {key.sessions_per_minute} sessions a minute."
        wait_s = use.begun_s[0] + _MINUTE_S - now_s
        return Denied("rate_limit_exceeded", "key_sessions_per_minute", text, wait_s)
    if key.audio_minutes_per_hour is not None:
        limit_s = key.audio_minutes_per_hour * _MINUTE_S
        if use.audio_s >= limit_s:
            return _too_much_audio(key, use.audio[0][0] + _HOUR_S - now_s)
    return None


def _too_much_audio(key: ApiKey, retry_s: float) -> Denied:
    text = f"This key may send {key.audio_minutes_per_hour} minutes of audio an hour."
    return Denied("rate_limit_exceeded", "key_audio_minutes", text, retry_s)
