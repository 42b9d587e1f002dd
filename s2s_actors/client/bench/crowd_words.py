"""What a crowd showed, in a line of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.client.bench.crowd_point import CrowdPoint

__all__ = ["crowd_line", "verdict"]


def crowd_line(point: CrowdPoint) -> str:
    """What it cost, and whether the server bore it."""
    return f"{point.scenario} on {point.server}: {', '.join(_parts(point))}: {verdict(point)}"


def verdict(point: CrowdPoint) -> str:
    """What did not hold."""
    return f"breaks: {'; '.join(point.breaks)}" if point.breaks else "holds"


def _parts(point: CrowdPoint) -> Iterator[str]:
    usage = point.usage
    if usage is None or point.cpu_ms_per_session_s is None:
        yield "use of the server unknown"
    else:
        yield f"{usage.cores:.2f} cores"
        yield f"{point.cpu_ms_per_session_s:.2f} ms of CPU for each second of a session"
        yield f"{usage.rss_mb:.0f} MB"
        yield f"{usage.threads} threads"
    yield f"{point.said - point.missed} of {point.said} turns whole"
    yield f"{point.false_starts} false starts"
    if point.started_later_ms is not None:
        yield f"speech_started {point.started_later_ms:.0f} ms later than alone at p99"
    if point.late_ms is not None:
        late = f"{point.late_ms.p99:.1f} ms late at p99"
        yield f"this client {late} with {point.client_cores:.2f} cores"
