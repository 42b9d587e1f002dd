"""Every event of a session in the log, for who has asked to see what is said."""

from __future__ import annotations

import logging
from typing import Final

from s2s_actors.logs import CONTENT_LOGGER

__all__ = ["WireLog"]

_SHOWN_CHARS: Final = 1000
"""Of an event; the rest is mostly audio."""

logger = logging.getLogger(CONTENT_LOGGER)
if logger.level == logging.NOTSET:
    logger.setLevel(logging.WARNING)  # nobody has set up the log and said otherwise


class WireLog:
    """What one connection sends and receives, at DEBUG; silent unless content may be shown."""

    __slots__ = ("_session_id",)

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id

    def received(self, frame: str | bytes) -> None:
        """Tell what the client has sent."""
        if logger.isEnabledFor(logging.DEBUG):
            self._tell("<", frame)

    def sent(self, frame: bytes) -> None:
        """Tell what the client is sent."""
        if logger.isEnabledFor(logging.DEBUG):
            self._tell(">", frame)

    def _tell(self, way: str, frame: str | bytes) -> None:
        start = frame[:_SHOWN_CHARS]
        text = start if isinstance(start, str) else start.decode(errors="replace")
        more = f" ... of {len(frame)}" if len(frame) > _SHOWN_CHARS else ""
        logger.debug("%s %s %s%s", self._session_id, way, text, more)
