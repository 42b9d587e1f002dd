"""The table of settings: all that an operator can set, put together from its parts.

Each setting is declared once, in the part that it belongs to, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from s2s_actors.errors import SetupError
from s2s_actors.settings.setting import Setting, declared_in
from s2s_actors.settings.tables.access import AccessSettings
from s2s_actors.settings.tables.listening import ListeningSettings
from s2s_actors.settings.tables.logs import LogSettings
from s2s_actors.settings.tables.models import ModelSettings
from s2s_actors.settings.tables.sessions import SessionSettings
from s2s_actors.settings.tables.talking import TalkingSettings

__all__ = ["SETTINGS", "Settings"]


# The fields of the last part come first: that is how dataclasses inherit.
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(
    LogSettings, TalkingSettings, SessionSettings, ModelSettings, AccessSettings, ListeningSettings
):
    """Everything an operator can set; whoever holds one knows that each value is valid.

    Raises:
        SetupError: A value does not fit; the message names the setting, the value and what
            is allowed.
    """

    def __post_init__(self) -> None:
        for row in SETTINGS:
            given = getattr(self, row.field)
            if given is None and row.optional:
                continue
            try:
                value = row.kind.check(given)
            except ValueError:
                shown = "its value" if row.secret else repr(given)
                message = f"{row.field}: {shown} must be {row.kind.allowed}"
                raise SetupError(message) from None
            object.__setattr__(self, row.field, value)


SETTINGS: Final[tuple[Setting, ...]] = tuple(declared_in(fields(Settings)))
"""The table, in the order in which the settings are shown."""
