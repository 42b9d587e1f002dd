"""Lays flags over environment over file over defaults, and remembers where each came from.

Pure but for reading the one file that is asked for: flags and environment are passed in.
Whatever does not fit is refused by name, before anything else is done with it.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from s2s_actors.client.credentials import API_KEY_ENV
from s2s_actors.errors import SetupError
from s2s_actors.settings.setting import ENV_PREFIX, Setting
from s2s_actors.settings.table import SETTINGS, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "CONFIG_ENV",
    "DEBUG_ENV",
    "ConfigSources",
    "Origin",
    "ResolvedSettings",
    "resolve_settings",
]

CONFIG_ENV: Final = "S2S_CONFIG"
DEBUG_ENV: Final = "S2S_DEBUG"
_NO_SETTINGS: Final = frozenset({CONFIG_ENV, DEBUG_ENV, API_KEY_ENV})


@dataclass(frozen=True, slots=True)
class ConfigSources:
    """What the layers are read from.

    Attributes:
        flags: Text given on the command line, by field name; only what was given.
        environ: The environment. Variables without our prefix are ignored, and so are
            empty ones: that is how compose files write "not set".
        file: TOML file; where None, ``S2S_CONFIG`` names one, or there is none.
    """

    flags: Mapping[str, str]
    environ: Mapping[str, str]
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: the layer, and what it is called there."""

    layer: Literal["flag", "environment", "file", "default"]
    name: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The settings, and the origin of each by field name."""

    settings: Settings
    origins: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class _Given:
    row: Setting
    value: object
    origin: Origin


def resolve_settings(sources: ConfigSources) -> ResolvedSettings:
    """Lay the four layers over each other.

    Raises:
        SetupError: The file can't be read, or a layer holds an unknown name or a bad value
            (even where another layer beats it).
    """
    values: dict[str, object] = {row.field: row.default for row in SETTINGS}
    origins = {row.field: Origin("default") for row in SETTINGS}
    # The environment goes before the file: it may say which file.
    environment = list(_from_environment(sources.environ))
    file = sources.file or _config_from_environment(sources.environ)
    for given in [
        *(_from_file(file) if file else ()),
        *environment,
        *_from_flags(sources.flags),
    ]:
        values[given.row.field] = given.value
        origins[given.row.field] = given.origin
    return ResolvedSettings(Settings(**values), origins)  # type: ignore[arg-type]


def _config_from_environment(environ: Mapping[str, str]) -> Path | None:
    named = environ.get(CONFIG_ENV)
    return Path(named) if named else None


def _from_flags(flags: Mapping[str, str]) -> Iterator[_Given]:
    rows = {row.field: row for row in SETTINGS}
    for field, text in flags.items():
        row = rows[field]
        value = _fit(row, text, row.kind.read, f"{row.flag} ")
        yield _Given(row, value, Origin("flag", row.flag or ""))


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Given]:
    rows = {row.env: row for row in SETTINGS}
    for name, text in environ.items():
        if not name.startswith(ENV_PREFIX) or name in _NO_SETTINGS:
            continue
        row = rows.get(name)
        if row is None:
            raise _unknown(f"environment variable {name}", name, [*rows, *_NO_SETTINGS])
        if text:
            value = _fit(row, text, row.kind.read, f"{name}=")
            yield _Given(row, value, Origin("environment", name))


def _from_file(path: Path) -> Iterator[_Given]:
    rows = {row.key: row for row in SETTINGS}
    for key, raw in _read_toml(path).items():
        row = rows.get(key)
        if row is None:
            raise _unknown(f"key {key!r} in {path}", key, rows)
        value = _fit(row, raw, row.kind.check, f"{path}: {key} = ")
        yield _Given(row, value, Origin("file", str(path)))


def _fit(row: Setting, raw: object, read: Callable[..., object], where: str) -> object:
    try:
        return read(raw)
    except ValueError:
        shown = "(hidden)" if row.secret else repr(raw)
        raise SetupError(f"{where}{shown}: must be {row.kind.allowed}") from None


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{line[1]}" if line else str(path)
        raise SetupError(f"{place}: not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise SetupError(f"{path}: not valid TOML: the text is not UTF-8") from None
    except OSError as error:
        raise SetupError(f"--config {path}: {error.strerror}") from None


def _unknown(what: str, name: str, known: Iterable[str]) -> SetupError:
    names = sorted(known)
    close = difflib.get_close_matches(name.replace("-", "_"), names, n=1)
    if close:
        return SetupError(f"unknown {what}", hint=f"did you mean {close[0]}?")
    return SetupError(f"unknown {what}", hint=f"known are {', '.join(names)}")
