"""Counts what became of the checks, by area and level."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .checks import AREAS, CORE, FULL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .checks import Check

__all__ = ["FAILED", "NOT_APPLICABLE", "PASSED", "Scorecard"]

PASSED = "passed"
FAILED = "failed"
NOT_APPLICABLE = "not applicable"
_OUTCOMES = (PASSED, FAILED, NOT_APPLICABLE)
_REASON_CHARS = 110


@dataclass(slots=True)
class _Verdict:
    check: Check
    outcome: str
    reason: str


@dataclass(slots=True)
class Scorecard:
    """What is known of each check so far; :meth:`lines` shows it."""

    _verdicts: dict[str, _Verdict] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._verdicts)

    def record(self, check: Check, outcome: str, reason: str = "") -> None:
        """Take in the outcome of a check; a failure is never taken back."""
        known = self._verdicts.get(check.id)
        if known is None or known.outcome != FAILED:
            self._verdicts[check.id] = _Verdict(check, outcome, reason)

    def count(self, area: str, level: str) -> Counter[str]:
        """How many checks of an area and level had each outcome."""
        return Counter(
            verdict.outcome
            for verdict in self._verdicts.values()
            if (verdict.check.area, verdict.check.level) == (area, level)
        )

    def lines(self) -> Iterator[str]:
        """The scorecard as text."""
        titles = ("core", "", "", "full", "", "")
        yield f"{'':20}" + "".join(f"{title:>10}" for title in titles)
        yield f"{'area':20}" + "".join(f"{title:>10}" for title in ("passed", "failed", "n/a") * 2)
        sums: Counter[tuple[str, str]] = Counter()
        for area in AREAS:
            row = []
            for level in (CORE, FULL):
                counts = self.count(area, level)
                row += [counts[outcome] for outcome in _OUTCOMES]
                sums.update({(level, outcome): counts[outcome] for outcome in _OUTCOMES})
            if any(row):
                yield f"{area:20}" + "".join(f"{number:10}" for number in row)
        total = [sums[level, outcome] for level in (CORE, FULL) for outcome in _OUTCOMES]
        yield f"{'all':20}" + "".join(f"{number:10}" for number in total)
        yield from self._failures()

    def _failures(self) -> Iterator[str]:
        failed = [verdict for verdict in self._verdicts.values() if verdict.outcome == FAILED]
        if failed:
            yield ""
            yield f"{len(failed)} check{'s' if len(failed) > 1 else ''} failed:"
        for verdict in failed:
            check = verdict.check
            reason = " ".join(verdict.reason.split())[:_REASON_CHARS]
            yield f"  {check.id} ({check.level}) {check.what}: {reason}"
