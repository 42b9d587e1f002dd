"""How many may be connected, and how many of one place may still stand at the door."""

from __future__ import annotations

import ipaddress
import logging
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from s2s_actors.runtime.sparse_log import SparseLog
from s2s_actors.server.answers import error_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from websockets.http11 import Response

    from s2s_actors.actors.tally import Tally

__all__ = ["MOST_TURNED_AWAY", "Crowd", "CrowdLimits", "place_of"]

logger = logging.getLogger(__name__)

MOST_TURNED_AWAY: Final = 64
"""Connections beyond the limit that may be read to their end, so that they get their answer."""
_LEAST_NEWCOMERS: Final = 16
_RETRY_S: Final = 5
_STRANGERS: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_NETWORK_BITS: Final = 64
"""What one customer has of IPv6 at least: single addresses are nothing to count by."""


@dataclass(frozen=True, slots=True)
class CrowdLimits:
    """How many there may be.

    Attributes:
        connections: Of all kinds, at a time.
        newcomers: From one place, before their request has been answered.
    """

    connections: int
    newcomers: int

    @classmethod
    def of(cls, connections: int) -> CrowdLimits:
        """A quarter of all may be newcomers from one place: that may be a proxy."""
        return cls(connections, max(_LEAST_NEWCOMERS, connections // 4))


class Crowd:
    """Counts who is connected.

    Promises: who opens connections and says nothing takes no more than a share of them; strangers
    write at most a line into the log now and then. Belongs to the event loop.

    Args:
        limits: How many there may be.
        now_s: The process's monotonic clock.
        tally: Counts who is turned away.
    """

    def __init__(self, limits: CrowdLimits, now_s: Callable[[], float], tally: Tally) -> None:
        self._limits = limits
        self._tally = tally
        self._log = SparseLog(logger, now_s)
        self._strangers = SparseLog(logger, now_s)
        self._count = 0
        self._lingering = 0
        self._newcomers: Counter[str] = Counter()

    def enter(self, place: str) -> Response | None:
        """Count a new connection, or say why there is no room for it."""
        if self._count >= self._limits.connections:
            self._tally.refused("too_many_connections")
            self._log.tell("a connection from %s was turned away: there are too many", place)
            return _turned_away(
                HTTPStatus.SERVICE_UNAVAILABLE, "too_many_connections", "The server is full."
            )
        if self._newcomers[place] >= self._limits.newcomers:
            self._tally.refused("too_many_newcomers")
            self._log.tell(
                "a connection from %s was turned away: too many from there have sent no request",
                place,
            )
            return _turned_away(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too_many_connections",
                "Too many connections from your address have sent no request yet.",
            )
        self._count += 1
        self._newcomers[place] += 1
        return None

    def answered(self, place: str) -> None:
        """The request of a connection has been answered, or will never be."""
        self._newcomers[place] -= 1
        if not self._newcomers[place]:
            del self._newcomers[place]

    def note(self, place: str, answer: Response) -> None:
        """What was answered to a request; who may not come in is told of."""
        if answer.status_code in _STRANGERS:
            self._strangers.tell("a request from %s was refused: %d", place, answer.status_code)

    def leave(self) -> None:
        """A connection that was counted is gone."""
        self._count -= 1

    def linger(self) -> bool:
        """Whether one more that is turned away may stay until it has read why."""
        if self._lingering >= MOST_TURNED_AWAY:
            return False
        self._lingering += 1
        return True

    def lingered(self) -> None:
        """One that was let stay is gone."""
        self._lingering -= 1


def place_of(address: object) -> str:
    """Where a connection comes from: an IPv4 address, a network of IPv6, or this machine.

    Args:
        address: As the socket tells it.
    """
    if not isinstance(address, tuple) or not address:
        return "a local socket"
    try:
        host = ipaddress.ip_address(str(address[0]).partition("%")[0])
    except ValueError:
        return str(address[0])
    if isinstance(host, ipaddress.IPv6Address):
        if host.ipv4_mapped is not None:
            return str(host.ipv4_mapped)
        return str(ipaddress.ip_network((host, _NETWORK_BITS), strict=False))
    return str(host)


def _turned_away(status: HTTPStatus, code: str, message: str) -> Response:
    response = error_response(status, code, message)
    response.headers["Retry-After"] = str(_RETRY_S)
    return response
