"""A connection that remembers all it hears and checks every event."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from .stream_checker import StreamChecker
from .strict_events import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from .target import Target

__all__ = ["Event", "Wire", "is_error"]

Event: TypeAlias = "dict[str, Any]"

_names = itertools.count(1)


class Wire:
    """The connection of one session, for the length of a ``with`` block.

    Waiting moves a cursor: :meth:`event` finds the next event of a type behind the one that
    was found last, so a check reads as a conversation. Every event is validated by itself and
    followed by the invariants of a session; the first violation is raised by whatever waits
    next, or at the end of the block.

    Args:
        target: The server.
        query: Of the URL; without one it names the model.
        url: Another address than the target's.
        greeted: Whether to wait for ``session.created``.
        options: For :func:`websockets.sync.client.connect`.
    """

    def __init__(
        self,
        target: Target,
        query: dict[str, str] | None = None,
        *,
        url: str | None = None,
        greeted: bool = True,
        **options: Any,
    ) -> None:
        self.target = target
        self.name = f"session-{next(_names)}"
        self.checker = StreamChecker(self.name)
        self.received: list[Event] = []
        self.arrived_s: list[float] = []
        self.close_code: int | None = None
        self.abandoned = False  # whether it no longer matters how the session ends
        self._greeted = greeted
        self._news = threading.Condition()
        self._cursor = 0
        self._numbers = itertools.count(1)
        self._violation: AssertionError | None = None
        headers = {"Authorization": f"Bearer {target.key}"}
        usual = {"additional_headers": headers, "compression": None, "proxy": None}
        limits = {"max_size": None, "ping_interval": None, "open_timeout": target.patience_s}
        self._options = {**usual, **limits, **options}
        self._address = target.address(query, url=url)
        self._stack = contextlib.ExitStack()
        self.ws: ClientConnection
        self._reader = threading.Thread(target=self._read, name=self.name, daemon=True)

    def __enter__(self) -> Self:
        self.ws = self._stack.enter_context(connect(self._address, **self._options))
        self._reader.start()
        if self._greeted:
            self.event("session.created")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and not self.abandoned:
                self.part()
        finally:
            self._stack.close()
            self._reader.join(self.target.patience_s)

    def part(self) -> None:
        """What is left to do before a session ends as planned."""
        self._raise_violation()

    # --- out ------------------------------------------------------------------------------

    def send(self, type_: str, **fields: Any) -> str:
        """Send an event; return its ``event_id``."""
        event_id = f"{self.name}-{next(self._numbers)}"
        self.send_event({"type": type_, "event_id": event_id, **fields})
        return event_id

    def send_event(self, event: object) -> None:
        """Send any JSON value."""
        self.checker.client(event)
        self.ws.send(json.dumps(event))

    def send_frame(self, frame: str | bytes) -> None:
        """Send a frame that is no JSON."""
        self.checker.client(frame)
        self.ws.send(frame)

    # --- in -------------------------------------------------------------------------------

    @property
    def types(self) -> list[str]:
        """Types of all events so far."""
        return [str(event["type"]) for event in self.received]

    def of(self, *types: str) -> list[Event]:
        """All events of these types so far."""
        return [event for event in self.received if event["type"] in types]

    def mark(self) -> int:
        """How many events have come so far."""
        return len(self.received)

    def event(self, type_: str, *, within_s: float | None = None, **fields: Any) -> Event:
        """The next event of a type, with these fields, behind the one that was found last."""

        def matches(event: Event) -> bool:
            return event["type"] == type_ and all(event.get(k) == v for k, v in fields.items())

        return self.event_that(matches, f"{type_} {fields or ''}", within_s=within_s)

    def event_that(
        self, matches: Callable[[Event], bool], what: str, *, within_s: float | None = None
    ) -> Event:
        """The next event that matches, behind the one that was found last."""
        limit_s = self.target.patience_s if within_s is None else within_s
        deadline_s = time.monotonic() + limit_s
        position = self._cursor
        with self._news:
            while True:
                self._raise_violation()
                while position < len(self.received):
                    position += 1
                    if matches(self.received[position - 1]):
                        self._cursor = position
                        return self.received[position - 1]
                if self.close_code is not None:
                    raise AssertionError(f"closed ({self.close_code}) before {what}: {self}")
                if not self._news.wait(deadline_s - time.monotonic()):
                    raise AssertionError(f"no {what} within {limit_s:g} s: {self}")

    def closed(self, within_s: float) -> int:
        """Wait until the server has closed; return the code."""
        self._reader.join(within_s)
        assert self.close_code is not None, f"not closed within {within_s:g} s"
        return self.close_code

    def __str__(self) -> str:
        return f"{', '.join(self.types[-25:])}; last: {str(self.received[-1:])[:500]}"

    def _raise_violation(self) -> None:
        if self._violation is not None:
            raise self._violation

    def _check(self, event: Event) -> None:
        try:
            validate(event)
            self.checker.server(event)
        except AssertionError as violation:
            self._violation = self._violation or violation

    def _read(self) -> None:
        try:
            while True:
                frame = self.ws.recv()
                assert isinstance(frame, str), "a binary frame"
                event = json.loads(frame)
                with self._news:
                    self._check(event)
                    self.received.append(event)
                    self.arrived_s.append(time.monotonic())
                    self._news.notify_all()
        except ConnectionClosed as closed:
            code = 1006 if closed.rcvd is None else closed.rcvd.code
        except Exception as error:  # noqa: BLE001 - raised by whatever waits
            self._violation, code = AssertionError(repr(error)), 1006
        with self._news:
            self.close_code = code
            self._news.notify_all()


def is_error(event: Event, event_id: str | None) -> bool:
    """Whether it is an error, about that event."""
    if event["type"] != "error":
        return False
    return event_id is None or event["error"].get("event_id") == event_id
