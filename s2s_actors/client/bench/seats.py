"""The servers under test, and the seats in which sessions sit; a lost one is opened anew."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from s2s_actors.client.address import http_url
from s2s_actors.client.bench.session import Session, open_session
from s2s_actors.client.connection import session_update
from s2s_actors.client.http_get import get_json
from s2s_actors.errors import CapacityError, S2SError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from s2s_actors.client.bench.options import BenchOptions

__all__ = ["Seat", "Server", "look_at", "settings_for", "take_all"]

_PAUSES_S: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Before a full server is asked again whether a unit is free now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server under test.

    Attributes:
        name: A or B.
        url: Its address.
        models: ``GET /v1/models``, empty where there is none.
        pid: Its process if it is our own.
    """

    name: str
    url: str
    models: Mapping[str, object] = field(default_factory=dict)
    pid: int | None = None

    @property
    def is_scripted(self) -> bool:
        """Whether its language model is one of ours that plays a script."""
        models = self.models.get("data")
        return isinstance(models, list) and any(
            isinstance(model, dict)
            and (model.get("kind"), model.get("backend")) == ("llm", "scripted")
            for model in models
        )


def look_at(name: str, url: str) -> Server:
    """Ask a server what it runs; one that has no such page is fine, too."""
    return Server(name=name, url=url, models=ask_for(url, "/v1/models"))


def ask_for(url: str, path: str) -> dict[str, object]:
    """A page of the server as JSON, empty where there is none."""
    try:
        return get_json(http_url(url, path))
    except SetupError:
        return {}


def settings_for(
    server: Server, options: BenchOptions, instructions: str, script: Mapping[str, object]
) -> dict[str, object]:
    """The ``session.update`` of a scenario.

    Args:
        server: Whom it is for.
        options: What the command line says.
        instructions: System prompt.
        script: What a scripted language model shall do; others never see it.
    """
    if script and server.is_scripted:
        instructions = f"{instructions}\n#script {json.dumps(script)}"
    update = session_update(instructions, options.turn_detection_settings())
    if options.answer_tokens is not None:
        session = update["session"]
        assert isinstance(session, dict)
        session["max_output_tokens"] = options.answer_tokens
    return update


class Seat:
    """Keeps one session open; use it as an asynchronous context.

    Args:
        server: Where.
        settings: The ``session.update`` that each session begins with.
        timeout_s: Longest silence of the server.
    """

    def __init__(self, server: Server, settings: Mapping[str, object], timeout_s: float) -> None:
        self.server = server
        self._settings = settings
        self._timeout_s = timeout_s
        self._stack = AsyncExitStack()
        self._session: Session | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.leave()

    async def session(self) -> Session:
        """The open session, a new one if there is none or it was lost.

        Raises:
            S2SError: The server gives none.
        """
        if self._session is None or self._session.lost:
            await self.leave()
            opened = open_session(self.server.url, self._settings, timeout_s=self._timeout_s)
            self._session = await self._stack.enter_async_context(opened)
        return self._session

    async def leave(self) -> None:
        """Close the session if there is one."""
        self._session = None
        await self._stack.aclose()


async def take_all(seats: Iterable[Seat]) -> None:
    """Open all sessions before anything is measured.

    The units of those who have just left may not be clean yet, so a full server is asked again
    for a while. A seat that gets no session even so opens one in its first trial, or tells why
    it can't.
    """
    pauses = iter(_PAUSES_S)
    for seat in seats:
        while await _is_full(seat) and (pause_s := next(pauses, 0)):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(pause_s)


async def _is_full(seat: Seat) -> bool:
    try:
        await seat.session()
    except S2SError as error:
        return isinstance(error, CapacityError)
    return False
