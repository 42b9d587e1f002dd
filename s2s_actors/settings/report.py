"""Shows settings: the resolved ones for ``--print-config``, all of them for the reference."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from s2s_actors.settings.table import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.settings.layers import ResolvedSettings
    from s2s_actors.settings.setting import Setting

__all__ = ["print_settings", "settings_as_toml", "settings_reference"]

_MASK = "********"


def print_settings(resolved: ResolvedSettings, out: TextIO) -> None:
    """Print what is set and where it came from: a table on a terminal, else TOML."""
    if not out.isatty():
        out.write(settings_as_toml(resolved))
        return
    from rich.console import Console  # noqa: PLC0415 - plain output needs none of it
    from rich.table import Table  # noqa: PLC0415

    table = Table("setting", "value", "from", title="Settings", title_justify="left")
    for row in SETTINGS:
        origin = resolved.origins[row.field]
        style = "dim" if origin.layer == "default" else "bold"
        value = _shown(row, getattr(resolved.settings, row.field)) or "not set"
        table.add_row(row.key, value, str(origin), style=style)
    # A value may look like markup; it is shown as it is.
    Console(file=out, markup=False, highlight=False).print(table)


def settings_as_toml(resolved: ResolvedSettings) -> str:
    """Return the settings as a file for ``--config``, each with its origin as a comment.

    Secrets are masked and what is not set is left out, both as comments, so the text reads
    back to the same settings but for the secrets.
    """
    lines = []
    for row in SETTINGS:
        origin = resolved.origins[row.field]
        value = getattr(resolved.settings, row.field)
        shown = _shown(row, value)
        if shown is None:
            lines.append(f"# {row.key} is not set")
        elif row.secret:
            lines.append(f"# {row.key} = {shown}  # {origin}")
        else:
            lines.append(f"{row.key} = {shown}  # {origin}")
    return "\n".join(lines) + "\n"


def settings_reference() -> str:
    """Return the reference page's table of all settings, as Markdown."""
    return "\n".join(_reference_lines()) + "\n"


def _reference_lines() -> Iterator[str]:
    yield "| flag | environment | key in the file | default | what it sets | allowed |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in SETTINGS:
        flag = f"`{row.flag} {row.kind.metavar}`" if row.flag else "none: a secret"
        cells = [flag, f"`{row.env}`", f"`{row.key}`", _default(row), row.help, row.kind.allowed]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(row: Setting) -> str:
    if row.default is None:
        return row.default_text or "not set"
    return f"`{row.kind.show(row.default)}`"


def _shown(row: Setting, value: object) -> str | None:
    if value is None:
        return None
    if row.secret:
        return json.dumps(_MASK)
    shown = row.kind.show(value)
    if isinstance(shown, str):
        # A JSON string is a TOML string, but for DEL, which only TOML wants escaped.
        return json.dumps(shown, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(shown)
