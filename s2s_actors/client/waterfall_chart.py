"""Draws a waterfall with bars, one stage a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from s2s_actors.client.waterfall import Stage, Waterfall

__all__ = ["chart"]

_STYLES: Final[Mapping[Stage, str]] = {
    "end of speech": "dim",
    "speech_stopped": "yellow",
    "transcript": "cyan",
    "first token": "magenta",
    "first audio": "green",
    "response.done": "blue",
}
_TEXT_WIDTH: Final = 36
_WIDEST_BAR: Final = 72
_NARROWEST_BAR: Final = 8


def chart(console: Console, fall: Waterfall) -> Table:
    """Stages with time, interval and a bar; the last line is the total."""
    width = min(console.width - _TEXT_WIDTH, _WIDEST_BAR)
    solid, thin = ("=", "|") if console.options.ascii_only else ("━", "╷")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, overflow="crop")
    for step in fall.steps:
        start, end = (
            _cell(ms, fall.total_ms, width) for ms in (step.at_ms - step.interval_ms, step.at_ms)
        )
        bar = solid * (end - start) if end > start else thin
        style = _STYLES[step.stage]
        table.add_row(
            Text(step.stage, style),
            f"{step.interval_ms:+d} ms" if step is not fall.steps[0] else "0 ms",
            Text(" " * start + bar if width >= _NARROWEST_BAR else "", style),
        )
    for stage in fall.missing:
        table.add_row(Text(stage, "dim"), Text("missing", "red"), "")
    table.add_row(Text("total", "bold"), Text(f"{fall.total_ms} ms", "bold"), "")
    return table


def _cell(at_ms: int, total_ms: int, width: int) -> int:
    """Column of a moment; every bar starts in the column in which the one before it ends."""
    return round(at_ms * width / total_ms) if total_ms and width > 0 else 0
