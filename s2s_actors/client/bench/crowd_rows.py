"""What each session of a crowd went through, as a row, and what all of them show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s_actors.client.bench.crowd_plan import DONE, STARTED, STOPPED, TRANSCRIBED
from s2s_actors.client.bench.figures import Count, count_of, figure_of
from s2s_actors.client.bench.rows import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.crowd_plan import Said, SessionLog
    from s2s_actors.client.bench.figures import Figure
    from s2s_actors.client.bench.rows import Place

__all__ = ["CrowdRow", "CrowdTurn", "crowd_figures", "crowd_row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdTurn:
    """Something that was said in a crowd, and what came of it. None is what never came.

    Attributes:
        stimulus: What was said.
        started_ms: ``speech_started``, from the moment in which the piece with the onset of
            speech left; negative if a breath before it was noticed.
        stopped_ms: ``speech_stopped``, from the moment in which the piece with the end of the
            speech left: the first one after it, else the last one before it (negative).
        transcript_ms: The finished transcript, in the same way.
        done_ms: ``response.done``, in the same way.
    """

    stimulus: str
    started_ms: float | None = None
    stopped_ms: float | None = None
    transcript_ms: float | None = None
    done_ms: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether everything came that there is in a turn."""
        return None not in (self.started_ms, self.stopped_ms, self.transcript_ms, self.done_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdRow(Row):
    """A session that was one of many.

    Attributes:
        turns: What it said, in order.
        false_starts: ``speech_started`` events while it was silent.
        errors: What the server complained of.
        closed: How the server ended it, empty if it did not.
    """

    turns: tuple[CrowdTurn, ...] = ()
    false_starts: int = 0
    errors: tuple[str, ...] = ()
    closed: str = ""


def crowd_row(log: SessionLog, names: Sequence[str], place: Place, at_s: float) -> CrowdRow:
    """Read what a session saw.

    Args:
        log: That.
        names: Of the clips.
        place: Which session it was.
        at_s: When all this began, from the start of the run.
    """
    said = [each for each in log.said if each.onset_s is not None]
    begins = [each.begin_s for each in said]
    untils = [*begins, float("inf")]  # events belong to the utterance before them
    turns: list[CrowdTurn] = []
    false_starts = sum(kind == STARTED and at < untils[0] for at, kind in log.events)
    for each, begin_s, until_s in zip(said, begins, untils[1:], strict=True):
        events = [(at, kind) for at, kind in log.events if begin_s <= at < until_s]
        turns.append(_turn(names[each.clip], each, events))
        false_starts += _false_starts(each, events)
    return CrowdRow(
        place=place,
        stimulus="",
        at_s=at_s,
        problem=log.problem,
        turns=tuple(turns),
        false_starts=false_starts,
        errors=tuple(log.errors),
        closed=log.closed,
    )


def crowd_figures(rows: Sequence[CrowdRow]) -> tuple[dict[str, Figure | None], dict[str, Count]]:
    """Figures and counts of a crowd, by key; none without rows."""
    if not rows:
        return {}, {}
    turns = [turn for row in rows for turn in row.turns]
    figures = {
        "started_ms": figure_of(turn.started_ms for turn in turns),
        "stopped_ms": figure_of(turn.stopped_ms for turn in turns),
        "transcript_ms": figure_of(turn.transcript_ms for turn in turns),
        "done_ms": figure_of(turn.done_ms for turn in turns),
    }
    counts = {
        "turns_started": count_of(turn.started_ms is not None for turn in turns),
        "turns_stopped": count_of(turn.stopped_ms is not None for turn in turns),
        "turns_transcribed": count_of(turn.transcript_ms is not None for turn in turns),
        "turns_done": count_of(turn.done_ms is not None for turn in turns),
        "false_starts": count_of(row.false_starts > 0 for row in rows),
        "had_errors": count_of(bool(row.errors) for row in rows),
        "was_closed": count_of(bool(row.closed) for row in rows),
    }
    return figures, counts


def _turn(name: str, said: Said, events: Sequence[tuple[float, str]]) -> CrowdTurn:
    onset_s, end_s = said.onset_s, said.end_s

    def after_end(kind: str) -> float | None:
        times = [at for at, each in events if each == kind]
        later = (at for at in times if end_s is not None and at >= end_s)
        return _ms(next(later, times[-1] if times else None), end_s)

    started_s = next((at for at, kind in events if kind == STARTED), None)
    return CrowdTurn(
        stimulus=name,
        started_ms=_ms(started_s, onset_s),
        stopped_ms=after_end(STOPPED),
        transcript_ms=after_end(TRANSCRIBED),
        done_ms=after_end(DONE),
    )


def _false_starts(said: Said, events: Sequence[tuple[float, str]]) -> int:
    """Starts after the end of the speech, but for the first one, which is only late."""
    starts = [at for at, kind in events if kind == STARTED][1:]
    return sum(said.end_s is not None and at > said.end_s for at in starts)


def _ms(at_s: float | None, from_s: float | None) -> float | None:
    return None if at_s is None or from_s is None else (at_s - from_s) * 1000.0
