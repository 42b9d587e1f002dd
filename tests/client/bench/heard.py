"""Events as a server sends them, and rows and results as the bench makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.client.audio_file import BYTES_PER_MS
from s2s_actors.client.bench.clips import Clip
from s2s_actors.client.bench.figures import Figure
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.result import Machine, Probe, Result
from s2s_actors.client.bench.rows import (
    BackchannelRow,
    BargeInRow,
    NoiseRow,
    Place,
    Row,
    TurnRow,
)
from s2s_actors.client.bench.seats import Server
from s2s_actors.client.bench.summary import summarise
from s2s_actors.client.record import AUDIO_DELTA, Event

if TYPE_CHECKING:
    from collections.abc import Sequence

CLIP = Clip("question", bytes(1000 * BYTES_PER_MS), 100, 800, "What is it?")


def place(scenario: str = "turns", server: str = "A", number: int = 0, **more: bool) -> Place:
    return Place(scenario=scenario, server=server, session=0, number=number, **more)


def started(at_ms: float, item: str = "u1") -> Event:
    return Event(at_ms, "input_audio_buffer.speech_started", {"item_id": item})


def committed(at_ms: float, item: str = "u1") -> list[Event]:
    return [
        Event(at_ms, "input_audio_buffer.speech_stopped", {"item_id": item}),
        Event(at_ms, "input_audio_buffer.committed", {"item_id": item}),
    ]


def transcribed(at_ms: float, text: str, item: str = "u1") -> Event:
    kind = "conversation.item.input_audio_transcription.completed"
    return Event(at_ms, kind, {"item_id": item, "transcript": text})


def created(at_ms: float, response: str = "r1") -> Event:
    return Event(at_ms, "response.created", {"response": {"id": response}})


def words(at_ms: float, text: str, response: str = "r1") -> Event:
    kind = "response.output_audio_transcript.delta"
    return Event(at_ms, kind, {"response_id": response, "delta": text})


def audio(at_ms: float, length_ms: int = 300, response: str = "r1") -> Event:
    return Event(at_ms, AUDIO_DELTA, {"response_id": response}, bytes(length_ms * BYTES_PER_MS))


def done(at_ms: float, response: str = "r1", status: str = "completed") -> Event:
    return Event(at_ms, "response.done", {"response": {"id": response, "status": status}})


def a_turn(
    latency_ms: float, server: str = "A", number: int = 0, scenario: str = "turns"
) -> TurnRow:
    return TurnRow(
        place=place(scenario, server, number),
        stimulus="question",
        at_s=float(number),
        first=number == 0,
        latency_ms=latency_ms,
        stopped_ms=latency_ms * 0.4,
        transcript_ms=latency_ms * 0.6,
        created_ms=latency_ms * 0.6,
        first_text_ms=latency_ms * 0.7,
        first_audio_ms=latency_ms,
        answers=1,
        words=10,
        word_errors=1,
        underruns=0,
    )


def rows_of_all_kinds() -> list[Row]:
    rows: list[Row] = []
    for server, slower in (("A", 1.0), ("B", 1.3)):
        rows += [a_turn((700 + 7 * n) * slower, server, n) for n in range(12)]
        rows += [
            TurnRow(
                place=place("pauses", server, n),
                stimulus="question with a pause",
                at_s=20.0 + n,
                pause_ms=(300, 500, 700)[n % 3],
                latency_ms=None if n % 3 else 640.0 * slower,
                recovery_ms=900.0 if n % 3 else None,
                cut_off=bool(n % 3),
            )
            for n in range(6)
        ]
        rows.append(
            BargeInRow(
                place=place("barge-in", server),
                stimulus="stop",
                at_s=30.0,
                started_ms=140.0,
                cancelled_ms=150.0 * slower,
                answered=True,
            )
        )
        rows += [
            BackchannelRow(
                place=place("backchannel", server, n),
                stimulus=name,
                at_s=40.0,
                kind=kind,
                cancelled=kind == "word",
                cancelled_ms=130.0 if kind == "word" else None,
                resumed=False if kind == "word" else None,
            )
            for n, (name, kind) in enumerate((("Mm-hmm.", "word"), ("cough", "sound")))
        ]
        rows += [
            NoiseRow(place=place("noise", server, n), stimulus=kind, at_s=50.0, responses=n)
            for n, kind in enumerate(("white", "fan"))
        ]
    rows.append(Row(place=place("turns", "A", 12), stimulus="", at_s=60.0, problem="<no> unit"))
    return rows


def a_result(rows: Sequence[Row] | None = None) -> Result:
    rows = rows_of_all_kinds() if rows is None else rows
    return Result(
        options=BenchOptions(command="s2s-actors bench --window 200", window_ms=200),
        servers=[
            Server(
                name="A",
                url="ws://127.0.0.1:1111",
                models={"data": [{"id": "tiny", "kind": "stt", "backend": "x"}]},
            ),
            Server(name="B", url="ws://127.0.0.1:2222"),
        ],
        summaries=summarise(rows),
        rows=rows,
        probes=[
            Probe(scenario="turns", server="A", updated_ms=Figure(100, 1.0, 2.0, 31.0, 0.5, 40.0)),
            Probe(scenario="turns", server="B", problem="no unit"),
        ],
        pools={"A": {"size": 4, "counts": {"idle": 3, "draining": 1}, "units": [{"restarts": 2}]}},
        machine=Machine(version="1", python="3.11", system="Linux x", cores=2, load=0.5),
    )
