"""Identifiers as the Realtime protocol writes them."""

from __future__ import annotations

import secrets

MAX_ITEM_ID_CHARS = 32


def new_id(prefix: str) -> str:
    """A fresh identifier such as ``item_8f1c…``: at most 32 characters, unique in practice."""
    return f"{prefix}_{secrets.token_hex(12)}"


def event_id() -> str:
    """A fresh identifier of a server event."""
    return new_id("event")
