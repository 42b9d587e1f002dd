"""The server's log: on standard error, and silent about what people say.

What a log must not hold gets into it by ways that nobody thinks of: the text of an exception
quotes its input, a library prints whole requests at DEBUG. So this is decided where a line is
written, not where it is thought up: of an exception the log shows kind and place, of a library's
record the place only, and libraries are not asked for more than warnings. The texts of this
project's own records hold no content; a test looks for it.
"""

from __future__ import annotations

import copy
import logging
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Final

from s2s_actors.log_writer import LogWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["CONTENT_LOGGER", "OWN_LOGGERS", "DiscreetFormatter", "set_up_logs"]

OWN_LOGGERS: Final = ("s2s_actors", "statecharts")
"""Where records come from whose texts are this project's own."""
CONTENT_LOGGER: Final = "s2s_actors.server.wire_log"
"""Whose records are content, and nothing else."""
_LIBRARY_UNDER_OWN_NAME: Final = "s2s_actors.server.websockets"
_FORMAT: Final = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_WITHHELD: Final = "(text withheld, see --log-content)"

logger = logging.getLogger(__name__)


class DiscreetFormatter(logging.Formatter):
    """Formats a record without what users or their models said.

    Promises: nothing of an exception's text, whatever raised it, and nothing of the text of a
    library's record is in the result; what is left tells which line of which file to look at.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One record as text, a traceback below it."""
        shown = copy.copy(record)
        shown.exc_text = None  # another handler's formatter may have left the full text there
        if not _is_own(record.name):
            shown.msg = f"a message from {record.pathname}:{record.lineno} {_WITHHELD}"
            shown.args = None
        return super().format(shown)

    def formatException(  # noqa: N802 - the library's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """The traceback of an exception and of what led to it, without their texts."""
        error = ei[1]
        return "" if error is None else "".join(_outline(error, set())).rstrip("\n")


def set_up_logs(level: str, *, with_content: bool) -> None:
    """Send the log to standard error, for the whole process.

    Exceptions that nobody catches, in whatever thread, go to the log as well: Python would print
    their texts.

    Args:
        level: Least level of the project's own records, such as ``"debug"``.
        with_content: Show texts of exceptions and of libraries' records, too, and at DEBUG every
            event of every session.
    """
    handler = LogWriter(sys.stderr.fileno())
    handler.setFormatter((logging.Formatter if with_content else DiscreetFormatter)(_FORMAT))
    own_level = logging.getLevelNamesMapping()[level.upper()]
    # Never lower for libraries, whatever the operator wants: at DEBUG some print keys.
    logging.basicConfig(handlers=[handler], level=max(own_level, logging.WARNING))
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(own_level)
    content_level = own_level if with_content else max(own_level, logging.WARNING)
    logging.getLogger(CONTENT_LOGGER).setLevel(content_level)
    sys.excepthook = _on_uncaught
    sys.unraisablehook = _on_unraisable
    threading.excepthook = _on_dead_thread


def _is_own(name: str) -> bool:
    return name.partition(".")[0] in OWN_LOGGERS and name != _LIBRARY_UNDER_OWN_NAME


def _outline(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _outline(before, seen)
        yield "which led to:\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{_kind_of(error)} {_WITHHELD}\n"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield "in it:\n"
            yield from _outline(each, seen)


def _kind_of(error: BaseException) -> str:
    kind = type(error)
    is_builtin = kind.__module__ == "builtins"
    return kind.__qualname__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}"


def _on_uncaught(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)
    else:
        logger.critical("the process failed", exc_info=(kind, error, where))


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    error = unraisable.exc_value
    logger.error("a failure that nobody could be told", exc_info=error)


def _on_dead_thread(dead: threading.ExceptHookArgs) -> None:
    name = "a thread" if dead.thread is None else dead.thread.name
    if dead.exc_type is not SystemExit:
        logger.error("%s failed", name, exc_info=dead.exc_value)
