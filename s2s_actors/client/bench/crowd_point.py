"""What a crowd of one size showed of a server, and whether the server bore it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.figures import figure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from s2s_actors.client.bench.crowd_rows import CrowdRow
    from s2s_actors.client.bench.figures import Figure
    from s2s_actors.client.bench.process_usage import Usage

__all__ = ["CrowdPoint", "judged", "with_rows"]

LATER_MS: Final = 100.0
"""How much later than alone ``speech_started`` may come, at p99."""

UPDATED_MS: Final = 100.0
"""How long an idle client may wait for its ``session.updated``, at p99."""

LATE_MS: Final = 20.0
"""How late pieces may leave at p99, for the measurement to be one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdPoint:
    """A crowd of one size.

    Attributes:
        scenario: As its rows and its summary name it.
        server: Name of the server.
        sessions: How many were asked for.
        piece_ms: Audio in each event.
        talking_percent: Share of them that was to speak at any moment.
        opened: How many came about.
        said: Utterances.
        missed: Those without a start, an end, a transcript or a ``response.done``.
        false_starts: ``speech_started`` events while nobody spoke.
        errors: Sessions that were not opened or were closed, and what the server complained
            of; how often, by reason.
        started_ms: To ``speech_started``, from the moment in which the onset left.
        alone_started_ms: The same in a session that was alone on the server.
        started_later_ms: p99 of the one less the median of the other.
        updated_ms: What an idle client waited for its ``session.updated``.
        late_ms: How late pieces left the streamer.
        client_cores: Processors that the streamer kept busy.
        usage: What the server used while all were there; None where we can't know.
        cpu_ms_per_session_s: Its processor time for each second of each session.
        breaks: What did not hold, in words.
    """

    scenario: str
    server: str
    sessions: int
    piece_ms: int
    talking_percent: float
    opened: int = 0
    said: int = 0
    missed: int = 0
    false_starts: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    started_ms: Figure | None = None
    alone_started_ms: Figure | None = None
    started_later_ms: float | None = None
    updated_ms: Figure | None = None
    late_ms: Figure | None = None
    client_cores: float = 0.0
    usage: Usage | None = None
    cpu_ms_per_session_s: float | None = None
    breaks: tuple[str, ...] = ()


def with_rows(point: CrowdPoint, rows: Sequence[CrowdRow], alone: Sequence[CrowdRow]) -> CrowdPoint:
    """Add what the sessions saw, and what one that was alone did."""
    turns = [turn for row in rows for turn in row.turns]
    opened = sum(not row.problem for row in rows)
    started_ms = figure_of(turn.started_ms for turn in turns)
    alone_ms = figure_of(turn.started_ms for row in alone for turn in row.turns)
    later_ms = started_ms.p99 - alone_ms.p50 if started_ms and alone_ms else None
    return replace(
        point,
        opened=opened,
        said=len(turns),
        missed=sum(not turn.is_whole for turn in turns),
        false_starts=sum(row.false_starts for row in rows),
        errors=dict(Counter(chain.from_iterable(_errors(row) for row in rows))),
        started_ms=started_ms,
        alone_started_ms=alone_ms,
        started_later_ms=later_ms,
    )


def judged(point: CrowdPoint) -> CrowdPoint:
    """Add what follows from all the rest."""
    cost_ms = None
    if point.usage is not None and point.opened:
        cost_ms = 1000.0 * point.usage.cores / point.opened
    return replace(point, cpu_ms_per_session_s=cost_ms, breaks=tuple(_breaks(point)))


def _errors(row: CrowdRow) -> Iterator[str]:
    yield from row.errors
    if row.problem:
        yield f"no session: {row.problem}"
    if row.closed:
        yield f"closed: {row.closed}"


def _breaks(point: CrowdPoint) -> Iterator[str]:
    late_ms, updated_ms, later_ms = point.late_ms, point.updated_ms, point.started_later_ms
    if late_ms is not None and late_ms.p99 > LATE_MS:
        yield f"no measurement: this client was late itself (p99 {late_ms.p99:.0f} ms)"
    if point.missed:
        yield f"{point.missed} of {point.said} turns missed"
    for reason, times in point.errors.items():
        yield f"{times} x {reason}"
    if later_ms is not None and later_ms > LATER_MS:
        yield f"speech_started comes {later_ms:.0f} ms later than alone (p99)"
    if updated_ms is not None and updated_ms.p99 > UPDATED_MS:
        yield f"an idle client waits {updated_ms.p99:.0f} ms (p99)"
