"""Settings of the log: what is told about what happens."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import ON_OFF, setting
from s2s_actors.settings.values import Choice

__all__ = ["LogSettings"]


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What is told about what happens."""

    log_level: str = setting(
        "info", Choice(("debug", "info", "warning", "error")), "Least severity that is logged."
    )
    log_content: str = setting(
        "off",
        ON_OFF,
        "Let the log show what users and models say: texts of exceptions and of libraries' "
        "warnings, and at debug every event of every session.",
    )
