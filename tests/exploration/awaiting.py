"""Where tasks and futures stand, for a fingerprint: who waits where, and with what in hand."""

from __future__ import annotations

import asyncio
from contextlib import _AsyncGeneratorContextManager
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from websockets.asyncio.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["order_of", "write_callback", "write_future", "write_handle"]


_LEFT_OVER = frozenset({"f"})
"""What asyncio's loops over sets of futures leave behind: any one of them."""


class Writer(Protocol):
    """Writes things down."""

    def plain(self, thing: object) -> None:
        """Write down something whose text tells all."""

    def write(self, thing: object) -> None:
        """Write anything down."""


def write_handle(writer: Writer, handle: asyncio.Handle) -> None:
    """Write down a callback that is going to run."""
    writer.plain(handle.cancelled())
    if not handle.cancelled():
        write_callback(writer, handle._callback)  # type: ignore[attr-defined]
        writer.write(handle._args)


def write_callback(writer: Writer, callback: Any) -> None:
    """Write down a callback, and what it holds."""
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        writer.plain("task")
        writer.write(owner)
    elif isinstance(callback, FunctionType):
        writer.plain(callback.__qualname__)
        for cell in callback.__closure__ or ():
            writer.write(cell.cell_contents)
    else:
        writer.write(callback)


def write_future(writer: Writer, future: asyncio.Future[Any]) -> None:
    """Write down what is in a future; of a task also where it waits, and its local variables."""
    writer.plain(future._state)
    if future.done():
        writer.write(future._exception)
        writer.write(future._result)  # type: ignore[attr-defined]
    for callback, _context in future._callbacks or ():
        write_callback(writer, callback)
    if isinstance(future, asyncio.Task):
        writer.plain((future._must_cancel, future.cancelling()))  # type: ignore[attr-defined]
        writer.write(future._fut_waiter)  # type: ignore[attr-defined]
        for frame in _frames(future.get_coro()):
            writer.plain((frame.f_code.co_qualname, frame.f_lasti))
            writer.write({k: v for k, v in sorted(frame.f_locals.items()) if k not in _LEFT_OVER})


def order_of(thing: object) -> tuple[int, str]:
    """A place for a member of a set, the same in every process."""
    number = thing.connection_lost_waiter if isinstance(thing, Connection) else thing
    serial = getattr(number, "serial", None)
    return (0, repr(thing)) if serial is None else (serial, "")


def _frames(work: Any) -> Iterator[FrameType]:
    """The frames of a coroutine that waits, the outermost first."""
    while work is not None:
        frame = next(
            (
                found
                for name in ("cr_frame", "ag_frame", "gi_frame")
                if (found := getattr(work, name, None)) is not None
            ),
            None,
        )
        if frame is not None:
            yield frame
        work = _awaited_by(work, frame)


def _awaited_by(work: Any, frame: FrameType | None) -> Any:
    owner = None if frame is None else frame.f_locals.get("self")
    if isinstance(owner, _AsyncGeneratorContextManager):
        # What it waits for can't be asked for its frame, but the generator can.
        return owner.gen
    for name in ("cr_await", "ag_await", "gi_yieldfrom"):
        if (found := getattr(work, name, None)) is not None:
            return found
    return None
