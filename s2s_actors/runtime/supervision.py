"""What a supervisor hears of its actors, and how often it may start them again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from s2s_actors.runtime.mailbox import Control


@dataclass(frozen=True, slots=True)
class Crashed(Control):
    """An actor let an exception out; it has stopped and takes no more messages.

    Attributes:
        name: Name of the actor, as given to its constructor.
        actor_urn: Which of the actors of that name: a late report of one that has been
            replaced already must not take the new one down.
        error: What it let out.
    """

    name: str
    actor_urn: str
    error: BaseException


class TooManyRestartsError(Exception):
    """A supervisor gives up: whoever supervises it in turn decides."""


class RestartIntensity:
    """Tells a repair from a crash loop: at most so many restarts in a sliding window.

    After Erlang/OTP's supervisors (``intensity`` and ``period``).
    """

    def __init__(self, max_restarts: int = 3, window_s: float = 60.0) -> None:
        self._max_restarts = max_restarts
        self._window_s = window_s
        self._restarts_s: deque[float] = deque()

    def allow(self, now_s: float) -> bool:
        """Whether one more restart is reasonable; if so, it is counted."""
        while self._restarts_s and now_s - self._restarts_s[0] >= self._window_s:
            self._restarts_s.popleft()
        if len(self._restarts_s) >= self._max_restarts:
            return False
        self._restarts_s.append(now_s)
        return True
