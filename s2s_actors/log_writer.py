"""Writes the log without ever waiting for who reads it."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from typing import Final

__all__ = ["LogWriter"]

_MOST_LINES: Final = 10_000
"""That may wait: some seconds of the most talkative server, and a few MB."""
_LAST_PATIENCE_S: Final = 1.0
"""For lines that still wait when the process ends."""


class LogWriter(logging.Handler):
    """Hands records to a thread of its own, which writes them.

    A pipe that nobody empties takes 64 KiB, and then whoever writes waits for ever: that must
    be this thread, and not the event loop.

    Promises: logging never blocks; records that there is no room for are counted, and the count
    is told as soon as there is room again; :meth:`flush` waits for a bounded time.

    Args:
        descriptor: Open for writing; the writes go past every buffer of Python, whose locks could
            hold up the end of the process.
        most_lines: How many may wait.
    """

    def __init__(self, descriptor: int, most_lines: int = _MOST_LINES) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._most_lines = most_lines
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._lost = 0
        self._is_writing = False
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - a record that can't be formatted costs itself only
            self.handleError(record)
            return
        with self._changed:
            if len(self._waiting) >= self._most_lines:
                self._lost += 1
                return
            if self._lost:
                self._waiting.append(f"({self._lost} lines of the log were lost)\n")
                self._lost = 0
            self._waiting.append(f"{text}\n")
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all is written, or for a second."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._waiting and not self._is_writing, _LAST_PATIENCE_S
            )

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
                self._is_writing = True
                text = self._waiting.popleft()
            self._write(text.encode(errors="backslashreplace"))

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            pass  # closed, or the disk is full: there is nobody left to tell
