"""What may happen any number of times is told now and then: it can't fill the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

__all__ = ["SparseLog"]

_EVERY_S: Final = 10.0


class SparseLog:
    """Warns at once, and then for a while only counts.

    Promises: at most one line in ``every_s``, which tells of how many it stands for. Belongs to
    one thread.

    Args:
        logger: Takes the lines.
        now_s: The process's monotonic clock.
        every_s: The while.
    """

    def __init__(
        self, logger: logging.Logger, now_s: Callable[[], float], every_s: float = _EVERY_S
    ) -> None:
        self._logger = logger
        self._now_s = now_s
        self._every_s = every_s
        self._silent_until_s: float | None = None
        self._untold = 0

    def tell(self, text: str, *values: object) -> None:
        """Tell of one event, now or as a number in the line of a later one."""
        now_s = self._now_s()
        if self._silent_until_s is not None and now_s < self._silent_until_s:
            self._untold += 1
            return
        more = f" (and {self._untold} more before it)" if self._untold else ""
        self._logger.warning("%s%s", text % values, more)
        self._silent_until_s = now_s + self._every_s
        self._untold = 0
