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

    from s2s_actors.client.folding import Line
    from s2s_actors.client.record import Record
    from s2s_actors.client.turns import Answer, Turn

__all__ = ["show_report"]

_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_NARROWEST_DETAIL: Final = 24
_LONGEST_DETAIL: Final = 60
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
    console.print(Padding(_conversation(turns), _INDENT))
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


def _conversation(turns: Sequence[Turn]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for turn in turns:
        if turn.item_id:
            heard = printable(turn.transcript)
            table.add_row("heard", Text(heard, "bold cyan") if heard else Text("no words", "dim"))
        for answer in turn.answers:
            table.add_row("answered", _answered(answer))
        if not turn.answers:
            table.add_row("answered", Text("nothing", "dim"))
    return table


def _answered(answer: Answer) -> Text:
    audio_s = duration_ms(bytes(answer.audio_bytes)) / 1000
    notes = [f"{audio_s:.1f} s of audio" if answer.audio_bytes else "no audio"]
    if answer.status != "completed":
        notes += filter(None, (answer.status, printable(answer.detail)))
    text = printable(answer.text)
    return Text.assemble(
        (f"{text}  " if text else "", "bold green"), (f"({', '.join(notes)})", "dim")
    )


def _events(console: Console, record: Record) -> Table:
    """One row a line; widths are set here, as the text of an answer can be of any length."""
    times, arrow = _either(console, _TIMES, "x"), _either(console, "→", "->")
    rows = [_event_row(line, times, arrow) for line in fold(record.events)]
    widths = [max((row[column].cell_len for row in rows), default=0) for column in range(3)]
    gaps = len(widths) + 1
    room = console.width - sum(widths) - gaps - _INDENT[3]
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(justify="right", no_wrap=True, min_width=widths[0])
    table.add_column(no_wrap=True, min_width=widths[1])
    table.add_column(overflow="fold")
    for first, until, event, detail in rows:
        if room >= _NARROWEST_DETAIL:
            event.pad_right(widths[2] - event.cell_len + 1)
            detail.truncate(room, overflow="ellipsis")
        else:  # the detail wraps below the name
            event.pad_right(2)
            detail.truncate(_LONGEST_DETAIL, overflow="ellipsis")
        table.add_row(first, until, Text.assemble(event, detail))
    return table


def _event_row(line: Line, times: str, arrow: str) -> tuple[Text, Text, Text, Text]:
    name = line.type if line.count == 1 else f"{line.type} {times} {line.count}"
    first, last = round(line.first_ms), round(line.last_ms)
    return (
        Text(str(first)),
        Text(f"{arrow} {last}" if last != first else "", "dim"),
        Text(printable(name), _style(line.type)),
        Text(line.detail, "dim"),
    )


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
