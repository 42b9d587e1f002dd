"""Settings of the log: what is told about what happens."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import setting
from s2s_actors.settings.values import Choice

__all__ = ["LogSettings"]


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What is told about what happens."""

    log_level: str = setting(
        "info", Choice(("debug", "info", "warning", "error")), "Least severity that is logged."
    )
