"""Who may see what the server tells of its clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from websockets.datastructures import Headers

    from s2s_actors.server.door import Door, Refusal

__all__ = ["ANYONE", "Insight", "insight_of"]


@dataclass(frozen=True, slots=True)
class Insight:
    """What whoever asks may be told.

    Attributes:
        refusal: Why they may not see figures; None if they may.
        has_key: Whether a key was shown, so that this is no stranger wherever they ask from.
    """

    refusal: Refusal | None
    has_key: bool


ANYONE: Final = Insight(None, has_key=False)
"""Who asks a server that wants no keys."""


def insight_of(door: Door, headers: Headers) -> Insight:
    """What a request may see: all of it with a key, or where nobody needs one."""
    key = door.key_of(headers)
    refusal = door.refuse(headers, key)
    return Insight(refusal, has_key=refusal is None and key is not None)
