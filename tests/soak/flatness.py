"""What a process holds, sampled from outside over a long run, and whether that stays flat."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Course", "Limit", "Sample"]

MEMORY: Final = "memory in MB"
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A look at the process.

    Attributes:
        at_s: When, on the monotonic clock.
        threads: Its threads.
        fds: Its open files, sockets among them.
        rss_mb: Its memory, in megabytes.
        worked_s: Time for which it has had a processor.
    """

    at_s: float
    threads: int
    fds: int
    rss_mb: float
    worked_s: float

    @classmethod
    def of(cls, pid: int) -> Sample:
        """Look at a process now."""
        process = psutil.Process(pid)
        with process.oneshot():
            rss_mb = process.memory_info().rss / _MB
            times = process.cpu_times()
            return cls(
                at_s=time.monotonic(),
                threads=process.num_threads(),
                fds=process.num_fds(),
                rss_mb=rss_mb,
                worked_s=times.user + times.system,
            )


@dataclass(frozen=True, slots=True)
class Limit:
    """How far the last third may lie above the first one.

    Attributes:
        ratio: Of the medians.
        slack: What may come on top, in the unit of the values.
    """

    ratio: float
    slack: float

    def check(self, what: str, values: Sequence[float]) -> None:
        """Compare thirds.

        Raises:
            AssertionError: It grows.
        """
        third = len(values) // 3
        assert third, f"{what}: {len(values)} values are too few"
        first, last = median(values[:third]), median(values[-third:])
        most = first * self.ratio + self.slack
        assert last <= most, f"{what} grew from {first:.4g} to {last:.4g} (at most {most:.4g})"


class Course:
    """All samples of a run.

    Promises: :meth:`check` judges medians of thirds, so that one odd moment decides nothing,
    and leaves out the time in which caches fill.

    Args:
        pid: Of the process.
    """

    LIMITS: Final[dict[str, tuple[Callable[[Sample], float], Limit]]] = {
        "threads": (lambda sample: sample.threads, Limit(1.0, 2.0)),
        "open files": (lambda sample: sample.fds, Limit(1.0, 3.0)),
        MEMORY: (lambda sample: sample.rss_mb, Limit(1.05, 6.0)),
    }

    def __init__(self, pid: int) -> None:
        self.samples: list[Sample] = []
        self._pid = pid

    def sample(self) -> Sample:
        """Look once more."""
        self.samples.append(Sample.of(self._pid))
        return self.samples[-1]

    def check(self, *, warm_up: float = 0.25, caches: float = 0.25) -> None:
        """Compare the first and the last third.

        Args:
            warm_up: Share of the samples that do not count.
            caches: The same for memory, which takes longer to come to rest.

        Raises:
            AssertionError: Something grows.
        """
        for what, (value, limit) in self.LIMITS.items():
            share = caches if what == MEMORY else warm_up
            counted = self.samples[int(len(self.samples) * share) :]
            limit.check(what, [value(sample) for sample in counted])

    def check_work(self, limit: Limit) -> None:
        """Compare the share of a processor that it takes in the first and in the last third.

        Raises:
            AssertionError: The same load costs more and more.
        """
        last = len(self.samples) - 1
        bounds = [self.samples[last * third // 3] for third in range(4)]
        shares = [
            (later.worked_s - sooner.worked_s) / (later.at_s - sooner.at_s)
            for sooner, later in pairwise(bounds)
        ]
        limit.check("share of a processor", shares)
