"""Addresses of a server: what a person types becomes what a client connects to."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from s2s_actors.errors import SetupError

__all__ = ["DEFAULT_URL", "http_url", "is_loopback", "realtime_url"]

_REALTIME_PATH: Final = "/v1/realtime"
DEFAULT_URL: Final = f"ws://127.0.0.1:8765{_REALTIME_PATH}"
"""Where a server listens unless it is told otherwise."""
_MODEL: Final = "s2s-actors"
_TO_WS: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_TO_HTTP: Final = {"ws": "http", "wss": "https", "http": "http", "https": "https"}


def realtime_url(url: str) -> str:
    """Address of the Realtime endpoint: path and ``?model=`` are added where they lack.

    Raises:
        SetupError: That is no address of a server.
    """
    parts = _split(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    if not {"model", "intent", "call_id"} & dict(query).keys():
        query.append(("model", _MODEL))
    path = parts.path if parts.path not in {"", "/"} else _REALTIME_PATH
    return parts._replace(
        scheme=_TO_WS[parts.scheme], path=path, query=urlencode(query), fragment=""
    ).geturl()


def http_url(url: str, path: str) -> str:
    """Address of a GET endpoint on the same server.

    Raises:
        SetupError: That is no address of a server.
    """
    parts = _split(url)
    return parts._replace(scheme=_TO_HTTP[parts.scheme], path=path, query="", fragment="").geturl()


def is_loopback(url: str) -> bool:
    """Whether the server is on this machine, where no proxy has any business."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _split(url: str) -> SplitResult:
    """Take an address apart; ``host:port`` alone means ``ws://host:port``."""
    try:
        parts = urlsplit(url if "://" in url else f"ws://{url}")
        usable = parts.scheme in _TO_WS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise SetupError(f"{url!r} is no address of a server", hint="try ws://127.0.0.1:8765")
    return parts
