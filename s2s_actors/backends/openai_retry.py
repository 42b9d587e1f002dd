"""Whether a request is made again that failed before its answer began, and when: no I/O."""

from __future__ import annotations

import math
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

import openai

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LONGEST_WAIT_S", "MAX_RETRIES", "wait_before_retry_s"]

MAX_RETRIES: Final = 2
LONGEST_WAIT_S: Final = 5.0
"""Someone listens to the silence: a server that wants to be left alone for longer has failed."""
_FIRST_WAIT_S: Final = 0.25
"""Doubles with each retry."""
_RETRIED_STATUS: Final = frozenset({408, 429})
"""Of the statuses that blame the request; those that blame the server (5xx) are all retried."""


def wait_before_retry_s(
    error: openai.OpenAIError, retries: int, *, chance: float, now_s: float | None = None
) -> float | None:
    """How long to wait before the request is made again; None if it isn't.

    Args:
        error: How it failed.
        retries: How often it has been made again already.
        chance: From 0 to 1, drawn anew each time, so that many who failed together do not come
            back together: the wait is between half and all of what is due.
        now_s: Unix time; by default that of the machine.
    """
    if retries >= MAX_RETRIES:
        return None
    wait_s = _FIRST_WAIT_S * 2.0**retries * (0.5 + 0.5 * chance)
    match error:
        case openai.APIStatusError():
            if error.status_code not in _RETRIED_STATUS and error.status_code < 500:
                return None
            asked_s = _asked_s(error.response.headers, time.time() if now_s is None else now_s)
            return None if asked_s > LONGEST_WAIT_S else max(wait_s, asked_s)
        case openai.APIConnectionError():
            return wait_s
        case _:
            return None


def _asked_s(headers: Mapping[str, str], now_s: float) -> float:
    """What ``Retry-After`` says, in seconds or as a date (RFC 9110, 10.2.3); 0 if nothing."""
    given = headers.get("retry-after")
    if given is None:
        return 0.0
    try:
        asked_s = float(given)
    except ValueError:
        try:
            asked_s = parsedate_to_datetime(given).timestamp() - now_s
        except (ValueError, OverflowError):
            return 0.0
    return 0.0 if math.isnan(asked_s) else asked_s
