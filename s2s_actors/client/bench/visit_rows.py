"""Rows of the scenario ``visits``, and what is summed up of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.client.bench.figures import figure_of
from s2s_actors.client.bench.rows import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.figures import Figure

__all__ = ["VisitRow", "visit_figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRow(Row):
    """A client that came or left, or what sessions cost; the rest of it is None.

    Attributes:
        claim_ms: From the call to ``session.created``, with a free unit.
        claim_connected_ms: The same from the end of the websocket handshake.
        leave_idle_ms: From one client's close frame to ``session.created`` of the next, who
            waited for the only unit.
        leave_busy_ms: The same where the first one left in the middle of an answer.
        session_mb: What one more session with one turn adds to the memory of the server.
        session_audio_mb: Audio that was said and heard in such a session, as 24 kHz PCM.
    """

    claim_ms: float | None = None
    claim_connected_ms: float | None = None
    leave_idle_ms: float | None = None
    leave_busy_ms: float | None = None
    session_mb: float | None = None
    session_audio_mb: float | None = None


def visit_figures(rows: Sequence[VisitRow]) -> dict[str, Figure | None]:
    """Times by what was done, and the memory."""
    return {
        "claim_ms": figure_of(row.claim_ms for row in rows),
        "claim_connected_ms": figure_of(row.claim_connected_ms for row in rows),
        "leave_idle_ms": figure_of(row.leave_idle_ms for row in rows),
        "leave_busy_ms": figure_of(row.leave_busy_ms for row in rows),
        "session_mb": figure_of(row.session_mb for row in rows),
        "session_audio_mb": figure_of(row.session_audio_mb for row in rows),
    }
