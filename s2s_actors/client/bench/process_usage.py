"""What a process of this machine uses: processor time, memory, threads."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

try:
    import psutil
except ImportError:  # it is no part of a plain installation
    psutil = None

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Meter", "Usage"]

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a process used over some time.

    Attributes:
        seconds: How long it was looked at.
        cores: Processors that it kept busy, on average.
        machine_cores: Processors of the machine that were busy, whoever kept them so.
        rss_mb: Its memory at the end, in megabytes.
        threads: Its threads at the end.
    """

    seconds: float
    cores: float
    machine_cores: float
    rss_mb: float
    threads: int


class Meter:
    """Looks at a process, first when it is made, then for :meth:`usage`.

    Args:
        pid: Of the process.
    """

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._since_s = time.monotonic()
        self._cpu_s = self._used_s()
        self._busy_s = _busy_s()

    @classmethod
    def of(cls, pid: int | None) -> Self | None:
        """A meter; None where there is nothing to look at, or nothing to look with."""
        if pid is None or psutil is None:
            return None
        with suppress(psutil.Error):
            return cls(pid)
        return None

    def usage(self) -> Usage | None:
        """What was used since; None if the process is gone."""
        seconds = time.monotonic() - self._since_s
        with suppress(psutil.Error):
            return Usage(
                seconds=seconds,
                cores=(self._used_s() - self._cpu_s) / seconds,
                machine_cores=(_busy_s() - self._busy_s) / seconds,
                rss_mb=self._process.memory_info().rss / _MB,
                threads=self._process.num_threads(),
            )
        return None

    def _used_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


def _busy_s() -> float:
    """Processor time of the whole machine that was not idle, since some moment."""
    times = psutil.cpu_times()
    waiting: float = getattr(times, "iowait", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # in user, too
    return float(sum(times) - times.idle - waiting - guests)
