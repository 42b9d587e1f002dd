"""Sums up the rows of a run: one summary for each scenario and server.

What was a warm-up does not count. What failed is counted by its reason and is in no figure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.client.bench.burst_figures import burst_figures
from s2s_actors.client.bench.crowd_rows import CrowdRow, crowd_figures
from s2s_actors.client.bench.figures import Count, Figure, Ratio, count_of, figure_of, ratio_of
from s2s_actors.client.bench.names import ALONE
from s2s_actors.client.bench.rows import BackchannelRow, BargeInRow, NoiseRow, TurnRow
from s2s_actors.client.bench.visit_rows import VisitRow, visit_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from s2s_actors.client.bench.rows import Row

__all__ = ["Summary", "summarise"]

Figures: TypeAlias = "dict[str, Figure | None]"
Counts: TypeAlias = dict[str, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a scenario showed of a server.

    Attributes:
        scenario: Its name.
        server: Name of the server.
        trials: How many counted, the failed ones included.
        failures: How many failed, by reason.
        figures: Distributions by key; a key ends in its unit. What was never measured is not
            in here.
        counts: How often something happened, by key; ``word_errors`` counts words.
        ratios: Figures set against those of one session alone, by key.
    """

    scenario: str
    server: str
    trials: int
    failures: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    counts: Mapping[str, Count] = field(default_factory=dict)
    ratios: Mapping[str, Ratio] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether any trial came off."""
        return self.trials > sum(self.failures.values())


def summarise(rows: Iterable[Row]) -> list[Summary]:
    """Sum up, in the order in which scenarios and servers first appear."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.place.scenario, row.place.server), []).append(row)
    servers = sorted({server for _, server in groups})
    scenarios = dict.fromkeys(scenario for scenario, _ in groups)
    found = {
        (scenario, server): _summary(scenario, server, groups[scenario, server])
        for scenario in scenarios
        for server in servers
        if (scenario, server) in groups
    }
    return [
        _set_against(summary, found.get((scenario + ALONE, server)))
        for (scenario, server), summary in found.items()
    ]


def _set_against(summary: Summary, alone: Summary | None) -> Summary:
    base = alone.figures.get("latency_ms") if alone else None
    ratio = ratio_of(summary.figures.get("latency_ms"), base)
    return replace(summary, ratios={"latency_to_alone": ratio}) if ratio else summary


def _summary(scenario: str, server: str, rows: Sequence[Row]) -> Summary:
    counted = [row for row in rows if not row.place.warm_up]
    good = [row for row in counted if not row.problem]
    figures, counts = _of_kind(good)
    return Summary(
        scenario=scenario,
        server=server,
        trials=len(counted),
        failures=dict(Counter(row.problem for row in counted if row.problem)),
        figures={key: figure for key, figure in figures.items() if figure is not None},
        counts={key: count for key, count in counts.items() if count.of},
    )


def _of_kind(rows: Sequence[Row]) -> tuple[Figures, Counts]:
    bursts = [row for row in rows if isinstance(row, TurnRow) and row.place.scenario == "burst"]
    figures: Figures = burst_figures(bursts)
    counts: Counts = {}
    for part_figures, part_counts in (
        _turns([row for row in rows if isinstance(row, TurnRow)]),
        _barge_ins([row for row in rows if isinstance(row, BargeInRow)]),
        _backchannels([row for row in rows if isinstance(row, BackchannelRow)]),
        _noises([row for row in rows if isinstance(row, NoiseRow)]),
        crowd_figures([row for row in rows if isinstance(row, CrowdRow)]),
        (visit_figures([row for row in rows if isinstance(row, VisitRow)]), {}),
    ):
        figures |= part_figures
        counts |= part_counts
    return figures, counts


def _turns(rows: Sequence[TurnRow]) -> tuple[Figures, Counts]:
    whole = [row for row in rows if row.latency_ms is not None]
    figures: Figures = {
        "latency_ms": figure_of(row.latency_ms for row in whole),
        "latency_first_turn_ms": figure_of(row.latency_ms for row in whole if row.first),
        "latency_later_turns_ms": figure_of(row.latency_ms for row in whole if not row.first),
        "recovery_ms": figure_of(row.recovery_ms for row in rows),
        "stopped_ms": figure_of(row.stopped_ms for row in whole),
        "transcript_ms": figure_of(row.transcript_ms for row in whole),
        "created_ms": figure_of(row.created_ms for row in whole),
        "first_text_ms": figure_of(row.first_text_ms for row in whole),
        "done_ms": figure_of(row.done_ms for row in whole),
        "lead_ms": figure_of(row.lead_ms for row in rows),
        "stalled_ms": figure_of(row.stalled_ms for row in rows if row.underruns),
        "sent_late_ms": figure_of(row.sent_late_ms for row in rows),
    }
    counts = {
        "cut_off": count_of(row.cut_off for row in rows),
        "answered_early": count_of(row.answered_early for row in rows),
        "restarted": count_of(row.answers > 1 for row in rows),
        "stuttered": count_of(row.underruns > 0 for row in rows if row.underruns is not None),
        "word_errors": Count(
            sum(row.word_errors or 0 for row in rows), sum(row.words or 0 for row in rows)
        ),
    }
    for pause_ms in sorted({row.pause_ms for row in rows if row.pause_ms}):
        of_length = [row for row in rows if row.pause_ms == pause_ms]
        figures[f"latency_pause_{pause_ms}_ms"] = figure_of(row.latency_ms for row in of_length)
        counts[f"cut_off_pause_{pause_ms}"] = count_of(row.cut_off for row in of_length)
    return figures, counts


def _barge_ins(rows: Sequence[BargeInRow]) -> tuple[Figures, Counts]:
    figures: Figures = {
        "started_ms": figure_of(row.started_ms for row in rows),
        "cancelled_ms": figure_of(row.cancelled_ms for row in rows),
        "last_audio_ms": figure_of(row.last_audio_ms for row in rows),
        "answer_ms": figure_of(row.answer_ms for row in rows),
    }
    counts = {
        "stopped": count_of(row.cancelled_ms is not None for row in rows),
        "late_audio": count_of(row.late_audio > 0 for row in rows),
        "first_word_heard": count_of(row.first_word_heard for row in rows),
        "answered": count_of(row.answered for row in rows),
    }
    return figures, counts


def _backchannels(rows: Sequence[BackchannelRow]) -> tuple[Figures, Counts]:
    counts = {
        "interrupted": count_of(row.cancelled for row in rows),
        "interrupted_by_words": count_of(row.cancelled for row in rows if row.kind == "word"),
        "interrupted_by_sounds": count_of(row.cancelled for row in rows if row.kind == "sound"),
        "resumed": count_of(row.resumed for row in rows),
        "taken_for_turn": count_of(row.answered for row in rows),
    }
    return {"interrupted_ms": figure_of(row.cancelled_ms for row in rows)}, counts


def _noises(rows: Sequence[NoiseRow]) -> tuple[Figures, Counts]:
    counts = {
        "fell_for_noise": count_of(row.fell_for_it for row in rows),
        "answered_noise": count_of(row.responses > 0 for row in rows),
        "heard_words_in_noise": count_of(bool(row.transcripts) for row in rows),
        "noticed_noise": count_of(row.started > 0 for row in rows),
    }
    return {}, counts
