"""The standard streams of the process, which may be closed, full, or read by nobody.

A number that is free here is taken by the next file or socket. With standard error closed, a
client's connection would get number 2, and a native library's warnings would go to that client.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["finish_streams", "give_up", "open_streams"]

_HIGHEST: Final = 2
_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}


def open_streams() -> None:
    """Give the null device to each standard stream that is closed."""
    # A file gets the lowest number that is free.
    while (number := os.open(os.devnull, os.O_RDWR)) <= _HIGHEST:
        os.set_inheritable(number, True)  # noqa: FBT003
    os.close(number)
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def give_up(stream: TextIO) -> None:
    """Let a stream that can't be written lead nowhere, with what it still holds.

    Otherwise the interpreter tries once more when it ends, and ends with a code of its own.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
    stream.flush()


def finish_streams(code: int) -> int:
    """Write what standard output and standard error still hold, as the last thing of a process.

    Args:
        code: The exit code so far.

    Returns:
        The exit code: 1 instead of 0 if results were lost. Who closed his end of a pipe knows
        what he wanted, so nothing is said then.
    """
    failure = _flush(sys.stdout)
    if failure is not None:
        if failure.errno != errno.EPIPE:
            sys.stderr.write(f"error: standard output: {failure.strerror}\n")
        code = code or 1
    _flush(sys.stderr)
    return code


def _flush(stream: TextIO) -> OSError | None:
    try:
        stream.flush()
    except OSError as error:
        give_up(stream)
        return error
    return None
