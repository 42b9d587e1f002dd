"""The talk command: one conversation with a server, spoken from a file or a microphone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from s2s_actors.client.address import DEFAULT_URL
from s2s_actors.client.audio_file import duration_ms, read_pcm, write_wav
from s2s_actors.client.console import INTERRUPTED, open_console, show_error
from s2s_actors.client.conversation import converse
from s2s_actors.client.folding import printable
from s2s_actors.client.live import converse_live
from s2s_actors.client.outcome import problems
from s2s_actors.client.record import Record
from s2s_actors.client.report import show_report
from s2s_actors.client.sound_card import open_sound_card
from s2s_actors.client.speech import speech_end_ms
from s2s_actors.client.voice import spoken
from s2s_actors.errors import S2SError, SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from s2s_actors.client.record import Event

__all__ = ["TalkOptions", "ask", "question_pcm", "run"]


@dataclass(frozen=True, slots=True)
class TalkOptions:
    """What the command line says.

    Attributes:
        url: The server: ``ws://host:port`` or the full address of its Realtime endpoint.
        input: WAV, FLAC or MP3 that holds what the user says; None for the microphone.
        output: WAV that the answer is written to, None to write none.
        say: Text to speak with the local voice, instead of ``input``.
        instructions: System prompt for the session, None for the server's own.
        timeout_s: Longest time that nothing may happen before the client gives up.
    """

    url: str = DEFAULT_URL
    input: Path | None = None
    output: Path | None = None
    say: str | None = None
    instructions: str | None = None
    timeout_s: float = 30.0


def run(options: TalkOptions) -> int:
    """Hold the conversation, show the report; return the exit code (0, 1 or 130).

    What goes wrong is one line on standard error.
    """
    try:
        if options.input is None and options.say is None:
            return _talk_live(options)
        name = str(options.input) if options.input else f'"{options.say}"'
        return ask(options, question_pcm(options.input, options.say), name)
    except S2SError as error:
        show_error(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def question_pcm(path: Path | None, say: str | None) -> bytes:
    """What the user says, from a file or by the local voice (24 kHz PCM).

    Raises:
        SetupError: The file can't be read or holds no speech, or the voice is missing.
    """
    if path is not None and say is not None:
        raise SetupError("a question comes from a file or from a text, not from both")
    if path is None:
        return spoken(say or "")
    pcm = read_pcm(path)
    if speech_end_ms(pcm) is None:
        raise SetupError(f"there is nothing to hear in {path}")
    return pcm


def ask(options: TalkOptions, pcm: bytes, name: str) -> int:
    """Say ``pcm``, write the answer, show the report; return the exit code (0 or 1).

    Args:
        options: The server, and where the answer goes.
        pcm: The question (24 kHz PCM).
        name: The question as the report names it.

    Raises:
        S2SError: There was no conversation, or the answer can't be written.
    """
    console = open_console()
    length = f"{duration_ms(pcm) / 1000:.1f} s"
    console.print(Text.assemble(("asking ", "dim"), printable(name), (f"  ({length})", "dim")))
    record = asyncio.run(
        converse(options.url, pcm, instructions=options.instructions, timeout_s=options.timeout_s)
    )
    show_report(console, record)
    _write_answer(console, options.output, record)
    return 1 if problems(record) else 0


def _write_answer(console: Console, path: Path | None, record: Record) -> None:
    pcm = record.answer_pcm()
    if path is None or not pcm:
        return
    write_wav(path, pcm)
    console.print()
    console.print(Text.assemble(("the spoken answer is in ", "dim"), (str(path), "bold")))


def _talk_live(options: TalkOptions) -> int:
    console, record = open_console(), Record()
    try:
        asyncio.run(_live(options, console, record))
    except KeyboardInterrupt:
        console.print()
    _write_answer(console, options.output, record)
    if record.closed is not None:
        raise S2SError(f"the server closed the connection: {record.closed}")
    if record.gave_up_after_s is not None:
        raise S2SError(f"the server took no settings within {record.gave_up_after_s:g} s")
    return 0


async def _live(options: TalkOptions, console: Console, record: Record) -> None:
    def show(event: Event) -> None:
        line = _spoken_line(event)
        if line is not None:
            console.print(line)

    async with open_sound_card() as card:
        console.print(
            Text("Speak; Ctrl-C ends. With headphones the answer can't interrupt itself.")
        )
        await converse_live(
            options.url,
            card,
            record,
            show,
            instructions=options.instructions,
            timeout_s=options.timeout_s,
        )


def _spoken_line(event: Event) -> Text | None:
    match event.type:
        case "conversation.item.input_audio_transcription.completed":
            return Text.assemble(("you     ", "dim"), (printable(event.text("transcript")), "cyan"))
        case "response.output_audio_transcript.done":
            return Text.assemble(
                ("answer  ", "dim"), (printable(event.text("transcript")), "green")
            )
        case "error":
            message = f"{event.text('error', 'code')}: {event.text('error', 'message')}"
            return Text(printable(message), "red")
        case _:
            return None
