"""Identifiers as the Realtime protocol writes them."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_ITEM_ID_CHARS = 32


def _unpredictable() -> str:
    return secrets.token_hex(12)


_draw: ContextVar[Callable[[], str]] = ContextVar("draw", default=_unpredictable)


@contextmanager
def ids_from(draw: Callable[[], str]) -> Iterator[None]:
    """Take the ids that are made within it, in this thread, from there.

    For simulations, which come out the same each time; a server's ids can't be guessed.

    Args:
        draw: Gives the next one, without its prefix: 24 characters at most.
    """
    token = _draw.set(draw)
    try:
        yield
    finally:
        _draw.reset(token)


def new_id(prefix: str) -> str:
    """A fresh identifier such as ``item_8f1c…``: at most 32 characters, unique in practice."""
    return f"{prefix}_{_draw.get()()}"


def event_id() -> str:
    """A fresh identifier of a server event."""
    return new_id("event")
