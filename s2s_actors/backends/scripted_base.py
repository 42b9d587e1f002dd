"""What the scripted backends have in common: where the script comes from, waits and faults."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.script import Fault, Script, read_script
from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from typing import Self

    from s2s_actors.backends.base import BackendOptions, Kind, Progress
    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["REAL_WAITS", "Scripted", "Waits", "befall", "pause"]


class Waits(Protocol):
    """How a script's times pass."""

    def pause(self, cancel: CancelToken, duration_ms: float | None) -> bool:
        """Wait, None for ever; return whether the work was cancelled."""
        ...

    def hang(self, duration_s: float) -> None:
        """Wait, and heed no cancellation."""
        ...


def pause(cancel: CancelToken, duration_ms: float | None) -> bool:
    """Wait, None for ever; return whether the work was cancelled."""
    if duration_ms == 0:
        return cancel.cancelled
    cancelled = threading.Event()
    forget = cancel.on_cancel(cancelled.set)
    try:
        return cancelled.wait(None if duration_ms is None else duration_ms / 1000)
    finally:
        forget()


class _RealWaits:
    """Time passes as it does."""

    def pause(self, cancel: CancelToken, duration_ms: float | None) -> bool:
        return pause(cancel, duration_ms)

    def hang(self, duration_s: float) -> None:
        time.sleep(duration_s)


REAL_WAITS: Waits = _RealWaits()


def befall(fault: Fault, cancel: CancelToken, waits: Waits = REAL_WAITS) -> None:
    """Let the fault happen; what is only for waiting ends when the work is cancelled."""
    if fault.wedge_s:
        waits.hang(fault.wedge_s)
    if fault.stall:
        waits.pause(cancel, None)
    if cancel.cancelled:
        return
    if fault.error:
        raise StageError(fault.error, fault.message)
    if fault.crash:
        raise RuntimeError(fault.crash)


class Scripted:
    """What they all have in common: they come from a script and hold nothing."""

    kind: Kind

    def __init__(
        self, script: Script | None = None, source: str | None = None, waits: Waits = REAL_WAITS
    ) -> None:
        self._waits = waits
        self._script = script or Script()
        self._source = source or "built-in script"

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Read the script.

        Raises:
            SetupError: The file can't be read, or is not a script.
        """
        del progress
        return cls(read_script(options.script), options.script)

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        return ModelInfo(id="scripted", kind=self.kind, backend="scripted", source=self._source)

    def warm_up(self) -> None:
        """Nothing to warm up."""

    def close(self) -> None:
        """Nothing to free."""
