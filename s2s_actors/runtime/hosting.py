"""Who runs an actor that is being started: threads, unless somebody has taken that on."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.runtime.actor import Actor

__all__ = ["Host", "current_host", "hosted_by"]


class Host(Protocol):
    """Runs actors by its own rules: it calls :meth:`Actor.serve` for every message."""

    def take_in(self, actor: Actor) -> None:
        """Serve an actor from now on; its first service is its beginning.

        Raises:
            RuntimeError: There is no room for another one.
        """


_host: ContextVar[Host | None] = ContextVar("host", default=None)


def current_host() -> Host | None:
    """Who takes in the actors that are started here; None for threads of their own."""
    return _host.get()


@contextmanager
def hosted_by(host: Host) -> Iterator[None]:
    """Give actors that are started within it, in this thread, to a host."""
    token = _host.set(host)
    try:
        yield
    finally:
        _host.reset(token)
