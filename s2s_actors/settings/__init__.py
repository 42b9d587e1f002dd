"""What an operator can set: one table, four layers (flag, environment, file, default)."""

from s2s_actors.settings.layers import (
    CONFIG_ENV,
    DEBUG_ENV,
    ConfigSources,
    Origin,
    ResolvedSettings,
    resolve_settings,
)
from s2s_actors.settings.report import print_settings, settings_as_toml, settings_reference
from s2s_actors.settings.setting import Setting
from s2s_actors.settings.table import SETTINGS, Settings

__all__ = [
    "CONFIG_ENV",
    "DEBUG_ENV",
    "SETTINGS",
    "ConfigSources",
    "Origin",
    "ResolvedSettings",
    "Setting",
    "Settings",
    "print_settings",
    "resolve_settings",
    "settings_as_toml",
    "settings_reference",
]
