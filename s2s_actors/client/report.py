"""The report of a conversation: what was heard, what was answered, and when."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.folding import fold, printable
from s2s_actors.client.outcome import problems
from s2s_actors.client.turns import turns_of
from s2s_actors.client.waterfall import stage_times_ms, waterfall
from s2s_actors.client.waterfall_chart import chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from s2s_actors.client.record import Record
    from s2s_actors.client.turns import Answer, Turn

__all__ = ["show_report"]

_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_TWO_COLUMNS_WIDTH: Final = 100
_INDENT: Final = (0, 0, 0, 2)
_EVENT_STYLES: Final = {
    "input_audio_buffer.": "yellow",
    "conversation.item.input_audio_transcription.": "cyan",
    "response.output_audio.": "green",
    "response.": "magenta",
    "error": "bold red",
}


def show_report(console: Console, record: Record) -> None:
    """Print the whole report: conversation, events, one waterfall a turn, problems.

    Lines end where their text ends, also in a file.
    """
    with console.capture() as capture:
        _show(console, record)
    for line in capture.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")
    console.file.flush()


def _show(console: Console, record: Record) -> None:
    turns = turns_of(record)
    _heading(console, "Conversation")
    for turn in turns:
        _show_turn(console, turn)
    _heading(console, "Events", "ms from the start of the question")
    console.print(Padding(_events(console, record), _INDENT))
    for number, turn in zip(count(1), turns, strict=False):
        _show_waterfall(console, turn, "" if len(turns) == 1 else f" of turn {number}")
    _show_problems(console, problems(record))


def _heading(console: Console, title: str, note: str = "") -> None:
    console.print()
    text = Text.assemble((title, "bold"), (f"  {note}" if note else "", "dim"))
    console.print(Rule(text, align="left", style="dim", characters=_either(console, "─", "-")))


def _either(console: Console, char: str, plain: str) -> str:
    return plain if console.options.ascii_only else char


def _show_turn(console: Console, turn: Turn) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    if turn.item_id:
        heard = printable(turn.transcript)
        table.add_row("heard", Text(heard, "bold cyan") if heard else Text("no words", "dim"))
    for answer in turn.answers:
        table.add_row("answered", _answered(answer))
    console.print(Padding(table, _INDENT))


def _answered(answer: Answer) -> Text:
    note = f"{duration_ms(bytes(answer.audio_bytes)) / 1000:.1f} s of audio"
    if answer.status != "completed":
        note += f", {printable(': '.join(filter(None, (answer.status, answer.detail))))}"
    return Text.assemble((printable(answer.text), "bold green"), (f"  ({note})", "dim"))


def _events(console: Console, record: Record) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_column(overflow="ellipsis", no_wrap=True, style="dim")
    times, arrow = _either(console, _TIMES, "x"), _either(console, "→", "->")
    for line in fold(record.events):
        name = line.type if line.count == 1 else f"{line.type} {times} {line.count}"
        first, last = round(line.first_ms), round(line.last_ms)
        until = f"{arrow} {last}" if line.count > 1 and last != first else ""
        event, detail = Text(printable(name), _style(line.type)), Text(line.detail, "dim")
        if console.width < _TWO_COLUMNS_WIDTH:  # then the detail wraps below the name
            table.add_row(str(first), until, Text.assemble(event, "  ", detail))
        else:
            table.add_row(str(first), until, event, detail)
    return table


def _style(event_type: str) -> str:
    matching = (s for prefix, s in _EVENT_STYLES.items() if event_type.startswith(prefix))
    return next(matching, "")


def _show_waterfall(console: Console, turn: Turn, which: str) -> None:
    if not turn.item_id:
        return
    fall = waterfall(stage_times_ms(turn))
    first_audio_ms = fall.at_ms("first audio")
    voice_to_voice = fall.at_ms("end of speech") == 0 and first_audio_ms is not None
    note = f"{first_audio_ms} ms from voice to voice" if voice_to_voice else ""
    _heading(console, f"Waterfall{which}", note)
    console.print(Padding(chart(console, fall), _INDENT))


def _show_problems(console: Console, lines: Sequence[str]) -> None:
    if lines:
        console.print()
    for line in lines:
        console.print(Text.assemble(("problem: ", "bold red"), printable(line)), soft_wrap=True)
