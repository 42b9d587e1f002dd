"""What the process does at SIGTERM, SIGINT and SIGHUP: before it serves, while it does, after."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import NoReturn

__all__ = ["Terminated", "handling_signals", "termination_interrupts"]


class Terminated(KeyboardInterrupt):
    """SIGTERM came while there was nothing to drain.

    It is a kind of Ctrl-C, so that it gets through wherever that does.
    """


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM raise :exc:`Terminated`, if this is the main thread.

    Raised and not just obeyed: a model that is half converted is tidied away on the way out.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise Terminated


@contextlib.contextmanager
def handling_signals(
    on_stop: Callable[[], None], on_hangup: Callable[[], None] | None
) -> Iterator[None]:
    """Call these from the running event loop, if this is the main thread.

    Afterwards signals do again what they did before.

    Args:
        on_stop: Called at SIGTERM and SIGINT.
        on_hangup: Called at SIGHUP, where there is one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    asked: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGTERM: on_stop,
        signal.SIGINT: on_stop,
    }
    if on_hangup is not None and hasattr(signal, "SIGHUP"):
        asked[signal.SIGHUP] = on_hangup
    before = {number: signal.getsignal(number) for number in asked}
    for number, what in asked.items():
        loop.add_signal_handler(number, what)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
