"""A pool snapshot as a table for the terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from s2s_actors.client.folding import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["age", "pool_table"]

_STATE_STYLES: Final = {
    "idle": "green",
    "claimed": "yellow",
    "active": "bold blue",
    "draining": "magenta",
    "quarantined": "bold red",
}


def pool_table(pool: Mapping[str, object], *, now_s: float) -> Group:
    """The figures of the pool and its load, a line a unit, and how long its latest turn waited.

    Args:
        pool: What ``GET /v1/pool`` answers; fields that lack or have a wrong type are blank.
        now_s: The time that ages are counted to, as :func:`time.time` gives it.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("unit", "state", "session", "since", "restarts", "epoch"):
        table.add_column(name, justify="right" if name in {"unit", "restarts", "epoch"} else "left")
    units = _mappings(pool.get("units"))
    for unit in units:
        state = _shown(unit.get("state"))
        table.add_row(
            _shown(unit.get("index")),
            Text(state, _STATE_STYLES.get(state, "")),
            _shown(unit.get("session_id")),
            age(unit.get("since"), now_s),
            _shown(unit.get("restarts")),
            _shown(unit.get("epoch")),
        )
    return Group(_header(pool), *_load(pool.get("load")), table, *_last_turns(units, now_s))


def _load(load: object) -> list[Text]:
    """How busy the server is, and why it takes no more sessions, if it does not."""
    figure = load.get("figure") if isinstance(load, dict) else None
    if not isinstance(load, dict) or not isinstance(figure, int | float):
        return []
    line = Text(f"load {figure:.0%} of what is in time")
    over = load.get("over")
    reasons = [_shown(each) for each in over] if isinstance(over, list) else []
    if load.get("admitting") is False:
        line = Text.assemble(line, ("  new sessions must wait", "bold red"))
    if reasons:
        line.append(f": {'; '.join(reasons)}")
    return [line]


def _last_turns(units: list[dict[str, object]], now_s: float) -> list[Text]:
    """Below the table: a reason is too long for a column."""
    lines = []
    for unit in units:
        turn = unit.get("last_turn")
        if isinstance(turn, dict):
            head = f"unit {_shown(unit.get('index'))}  {_shown(turn.get('total_ms'))} ms"
            ago = age(turn.get("at"), now_s)
            lines.append(
                Text.assemble(
                    (head, "bold"),
                    (f"  {ago} ago" if ago else "", "dim"),
                    f"  {_shown(turn.get('reason'))}",
                )
            )
    return lines


def age(since: object, now_s: float) -> str:
    """Time since a moment, given in seconds of the epoch or as ISO 8601; blank if neither."""
    match since:
        case bool():
            return ""
        case int() | float():
            at_s = float(since)
        case str():
            try:
                at_s = datetime.fromisoformat(since).timestamp()
            except ValueError:
                return ""
        case _:
            return ""
    return _duration(max(0, int(now_s - at_s)))


def _duration(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minute:02d} min"
    return f"{minute} min {second:02d} s" if minute else f"{second} s"


def _header(pool: Mapping[str, object]) -> Text:
    header = Text.assemble(
        (_shown(pool.get("in_use")), "bold"), f" of {_shown(pool.get('size'))} units in use"
    )
    counts = pool.get("counts")
    if isinstance(counts, dict):
        for state, number in counts.items():
            if number:
                header.append("  ")
                header.append(f"{number} {printable(str(state))}", _STATE_STYLES.get(state, ""))
    waiting = _waiting(pool.get("queue"))
    if waiting:
        header.append(f"  {waiting}", "yellow")
    return header


def _waiting(queue: object) -> str:
    length = queue.get("length") if isinstance(queue, dict) else queue
    if not isinstance(length, int) or not length:
        return ""
    waited_s = queue.get("oldest_wait_s") if isinstance(queue, dict) else None
    since = f", the first for {_duration(int(waited_s))}" if isinstance(waited_s, float) else ""
    return f"{length} waiting{since}"


def _shown(value: object) -> str:
    return "" if value is None else printable(str(value))


def _mappings(value: object) -> list[dict[str, object]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
