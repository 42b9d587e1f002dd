"""Plays an answer on paper: would it have stuttered, and how far was the server ahead?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["START_BUFFER_MS", "Playing", "play"]

START_BUFFER_MS: Final = 200.0
"""Audio that the player waits for before it starts, and again after it ran dry."""

_TOLERANCE_MS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Playing:
    """How one answer would have played.

    Attributes:
        audio_ms: Length of its audio.
        underruns: How often the player ran dry before the end.
        stalled_ms: Time without sound because of that.
        lead_ms: Most audio that had been sent and not yet played.
        ends_ms: When the last sample would have been played, on the clock of the arrivals.
    """

    audio_ms: float
    underruns: int
    stalled_ms: float
    lead_ms: float
    ends_ms: float


def play(
    pieces: Sequence[tuple[float, float]], *, start_buffer_ms: float = START_BUFFER_MS
) -> Playing | None:
    """Play pieces of ``(arrival_ms, length_ms)`` in order of arrival; None if there are none."""
    if not pieces:
        return None
    buffered = lead = stalled = now = 0.0
    dry_since: float | None = None
    playing, underruns = False, 0
    for number, (at_ms, length_ms) in enumerate(pieces, start=1):
        elapsed = at_ms - now if playing else 0.0
        if elapsed > buffered + _TOLERANCE_MS:
            underruns += 1
            playing, dry_since = False, now + buffered
        buffered = max(0.0, buffered - elapsed) + length_ms
        now, lead = at_ms, max(lead, buffered)
        if not playing and (buffered >= start_buffer_ms or number == len(pieces)):
            stalled += 0.0 if dry_since is None else at_ms - dry_since
            playing, dry_since = True, None
    audio_ms = sum(length for _, length in pieces)
    return Playing(audio_ms, underruns, stalled, lead, now + buffered)
