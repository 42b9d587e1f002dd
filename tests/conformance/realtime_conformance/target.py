"""The server under test: where it is, how to get in, and what may be asked of it."""

from __future__ import annotations

import contextlib
import json
import time
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import pytest
from websockets.exceptions import InvalidStatus

from . import sound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

__all__ = ["Target", "not_applicable", "refused"]


def not_applicable(why: str) -> NoReturn:
    """End the check without a verdict."""
    pytest.skip(why)


@contextlib.contextmanager
def refused(*statuses: int) -> Iterator[None]:
    """The block may end in a refusal at the handshake, with a status of 4xx or one of these."""
    try:
        yield
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        if status not in (statuses or range(400, 500)):
            raise AssertionError(f"refused with status {status}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the checks know of the server.

    Attributes:
        url: Of the websocket, with or without a query.
        api_key: Sent as a bearer; None sends ``unused``.
        model: For the query of the URL.
        pool_url: Where ``in_use`` is told over HTTP; None where there is no such page.
        expiring_url: A server of the same kind whose sessions last only seconds.
        scripted: Whether the suite's own model and script are behind it.
        ours: Whether the suite has started it.
        mcp_url: An MCP server that the server under test can reach.
        agents_python: A Python that has the package ``openai-agents``.
        node: Node.js, for clients in JavaScript.
        node_modules: Folder in or above which the package ``@openai/agents`` is installed.
        pace: Speed at which audio is sent: 1 is real time, 0 as fast as it goes.
        patience_s: Longest wait for something that should happen at once.
    """

    url: str
    api_key: str | None = None
    model: str = "gpt-realtime"
    pool_url: str | None = None
    expiring_url: str | None = None
    scripted: bool = False
    ours: bool = False
    mcp_url: str | None = None
    agents_python: str | None = None
    node: str | None = None
    node_modules: str | None = None
    pace: float = 1.0
    patience_s: float = 30.0

    @property
    def key(self) -> str:
        """What to show at the door."""
        return self.api_key or "unused"

    @property
    def http_base(self) -> str:
        """Base URL as clients of the HTTP API want it, without ``/realtime``."""
        parts = urlsplit(self.url)
        scheme = {"ws": "http", "wss": "https"}[parts.scheme]
        path = parts.path.removesuffix("/").removesuffix("/realtime")
        return urlunsplit((scheme, parts.netloc, path, "", ""))

    def address(self, query: dict[str, str] | None = None, *, url: str | None = None) -> str:
        """URL of a session; without a query, one that names the model."""
        parts = urlsplit(url or self.url)
        asked = urlencode(query if query is not None else {"model": self.model})
        whole = "&".join(part for part in (parts.query, asked) if part)
        return urlunsplit((parts.scheme, parts.netloc, parts.path, whole, ""))

    @property
    def speech(self) -> bytes:
        """An utterance: a tone does for a scripted ear, others get a spoken question."""
        return sound.tone(900) if self.scripted else sound.clip()

    @property
    def onset_ms(self) -> int:
        """Where in :attr:`speech` it begins to be loud."""
        return 0 if self.scripted else 300

    def in_use(self) -> int:
        """How many sessions hold something, by the pool's page."""
        if self.pool_url is None:
            not_applicable("no --pool-url")
        with urllib.request.urlopen(str(self.pool_url), timeout=self.patience_s) as answer:  # noqa: S310
            body: dict[str, Any] = json.load(answer)
        return int(body["in_use"])

    def until_in_use(self, wanted: int) -> int:
        """Wait until so many sessions hold something; return how many do in the end."""
        deadline_s = time.monotonic() + self.patience_s
        while (found := self.in_use()) != wanted and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return found

    def in_use_at_rest(self) -> int:
        """How many sessions hold something once those that have ended hold nothing."""
        counts = []
        for _ in range(10):
            counts.append(self.in_use())
            time.sleep(0.05)
        return min(counts)
