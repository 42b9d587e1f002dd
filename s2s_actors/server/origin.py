"""Which web pages may talk to the server from a browser.

A browser lets any page open a websocket to any address, also to one on the user's own machine, and
tells only in ``Origin`` which page it was (RFC 6455, section 10.2). Other clients send none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

__all__ = ["ANY", "Origins", "is_origin"]

ANY: Final = "*"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origins:
    """The pages that are let in, beside the server's own.

    A page is the server's own if it came from the address that the request goes to, and if that
    is a name of this server: a stranger's name may be made to lead to the loopback address, too
    (DNS rebinding), and then the two agree as well.

    Attributes:
        allowed: Origins such as ``https://example.org``, or :data:`ANY`.
        host: What the server listens on.
    """

    allowed: frozenset[str] = frozenset()
    host: str = "127.0.0.1"

    def lets_in(self, origin: str | None, host_header: str | None) -> bool:
        """Whether a request may come in.

        Args:
            origin: Its ``Origin``, None without one.
            host_header: Its ``Host``.
        """
        if origin is None or ANY in self.allowed:
            return True
        if origin.lower() in self.allowed:
            return True
        page = _place(origin)
        if page is None or host_header is None:
            return False
        own = _place(f"{page[0]}://{host_header}")
        return own == page and page[1] in _LOOPBACK | {self.host}


def is_origin(text: str) -> bool:
    """Whether a setting names an origin: a scheme and a host, perhaps a port, and no more."""
    if text == ANY:
        return True
    place = _place(text)
    return place is not None and not any(urlsplit(text)[2:]) and text == text.lower()


def _place(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None if that is no web origin."""
    try:
        parts = urlsplit(origin)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None
