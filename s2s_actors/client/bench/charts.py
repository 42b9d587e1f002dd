"""The charts of the page: how latencies are spread, where time goes, what happens over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.client.bench.figures import count_of, figure_of
from s2s_actors.client.bench.svg import Plot, Span, ticks
from s2s_actors.client.waterfall import waterfall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from s2s_actors.client.bench.rows import TurnRow
    from s2s_actors.client.waterfall import Stage, Waterfall

__all__ = ["STAGE_CLASSES", "cut_off_bars", "latency_spread", "over_time", "stage_bars"]

STAGE_CLASSES: Final[Mapping[Stage, str]] = {
    "end of speech": "s0",
    "speech_stopped": "s1",
    "transcript": "s2",
    "first token": "s3",
    "first audio": "s4",
}
_HALF: Final = 530
_WHOLE: Final = 1090
_THICK: Final = 52
_NARROW: Final = 34
"""A bar narrower than that has no room for its number."""


def latency_spread(rows: Mapping[str, Sequence[TurnRow]]) -> str:
    """For each server the share of answers that had begun by then (an ECDF)."""
    latencies = {name: _latencies(turns) for name, turns in rows.items()}
    known = [value for values in latencies.values() for value in values]
    low, high = _range(known)
    plot = Plot(
        _HALF, 300, Span(low, high, 48, _HALF - 14), Span(0, 100, 250, 30), "Spread of latencies"
    )
    plot.x_axis(ticks(low, high), "ms from the end of speech to the first audio")
    plot.y_axis([0, 25, 50, 75, 100], "%")
    if not known:
        plot.text((plot.x.start + plot.x.end) / 2, 144, "no turn was answered in time", "tick")
    for name, values in latencies.items():
        if values:
            ordered = sorted(values)
            shares = [(value, 100 * (n + 1) / len(ordered)) for n, value in enumerate(ordered)]
            plot.steps([(low, 0), *shares, (high, 100)], f"step {name}")
    return plot.drawn()


def stage_bars(rows: Mapping[str, Sequence[TurnRow]]) -> str:
    """For each server a bar from the end of speech to the first audio, by stage (medians)."""
    falls = {name: _fall(turns) for name, turns in rows.items()}
    falls = {name: fall for name, fall in falls.items() if len(fall.steps) > 1}
    ends = [place for fall in falls.values() for place in _places(fall)]
    low, high = _range(ends)
    plot = Plot(_HALF, 300, Span(low, high, 34, _HALF - 64), Span(0, 1, 250, 24), "Where time goes")
    plot.x_axis(ticks(low, high, about=5), "ms after the end of speech (medians)")
    room = (plot.y.start - plot.y.end) / max(1, len(falls))
    for number, (name, fall) in enumerate(falls.items()):
        _stage_bar(plot, name, fall, plot.y.end + (number + 0.5) * room)
    return plot.drawn()


def over_time(rows: Mapping[str, Sequence[TurnRow]]) -> str:
    """Each turn as a dot: when it was, and how long it took. A cut-off is a cross at zero."""
    turns = [turn for of_server in rows.values() for turn in of_server]
    begin_s = min((turn.at_s for turn in turns), default=0.0)
    last_s = max(max((turn.at_s - begin_s for turn in turns), default=0.0), 1.0)
    low, high = _range(_latencies(turns))
    plot = Plot(
        _WHOLE,
        260,
        Span(-0.02 * last_s, 1.02 * last_s, 48, _WHOLE - 14),
        Span(min(0.0, low), high, 212, 30),
        "Latency over time",
    )
    plot.x_axis([t for t in ticks(0, last_s, about=10) if t > 0], "seconds into the run")
    plot.y_axis(ticks(min(0.0, low), high, about=5), "ms")
    for name, of_server in rows.items():
        for turn in of_server:
            tip = f"{name}: {turn.stimulus}, {_ms(turn.latency_ms)}, session {turn.place.session}"
            if turn.latency_ms is not None:
                kind = f"dot {name} first" if turn.first else f"dot {name}"
                plot.dot(turn.at_s - begin_s, turn.latency_ms, kind, tip)
            elif turn.cut_off:
                plot.cross(turn.at_s - begin_s, 0.0, f"cross {name}", f"{tip} (cut off)")
    return plot.drawn()


def cut_off_bars(rows: Mapping[str, Sequence[TurnRow]]) -> str:
    """For each length of pause how many sentences were cut off in it."""
    lengths = sorted({turn.pause_ms for turns in rows.values() for turn in turns})
    plot = Plot(_HALF, 300, Span(0, 1, 48, _HALF - 14), Span(0, 100, 250, 40), "Cut-offs by pause")
    plot.y_axis([0, 25, 50, 75, 100], "%")
    group = (plot.x.end - plot.x.start) / max(1, len(lengths))
    width = min(48.0, group / (len(rows) + 1))
    for place, pause_ms in enumerate(lengths):
        middle = plot.x.start + group * (place + 0.5)
        plot.text(middle, 268, f"{pause_ms}", "tick")
        left = middle - width * len(rows) / 2
        for number, (name, turns) in enumerate(rows.items()):
            count = count_of(turn.cut_off for turn in turns if turn.pause_ms == pause_ms)
            top = plot.y.at(count.percent or 0.0)
            box = (left + number * width + 2, top - 1, width - 4, plot.y.start - top + 1)
            plot.bar(box, f"bar {name}", f"{name}: {count.count} of {count.of} cut off")
            label = f"{count.count}/{count.of}"
            plot.text(left + (number + 0.5) * width, top - 7, label, "label")
    plot.text((plot.x.start + plot.x.end) / 2, 286, "ms of pause in the sentence", "unit")
    return plot.drawn()


def _stage_bar(plot: Plot, name: str, fall: Waterfall, middle: float) -> None:
    places, line = _places(fall), middle + 4
    plot.text(plot.x.start - 14, line, name, f"name {name}")
    for number, step in enumerate(fall.steps[1:], start=1):
        left, right = plot.x.at(places[number - 1]), plot.x.at(places[number])
        tip = f"{step.stage}: +{step.interval_ms} ms"
        box = (left, middle - _THICK / 2, right - left, _THICK)
        plot.bar(box, STAGE_CLASSES[step.stage], tip)
        if right - left > _NARROW:
            plot.text((left + right) / 2, line, str(step.interval_ms), "inside")
    plot.text(plot.x.at(places[-1]) + 8, line, f"{places[-1]} ms", "total", "start")


def _fall(turns: Sequence[TurnRow]) -> Waterfall:
    whole = [turn for turn in turns if turn.latency_ms is not None]
    medians = {
        "speech_stopped": figure_of(turn.stopped_ms for turn in whole),
        "transcript": figure_of(turn.transcript_ms for turn in whole),
        "first token": figure_of(turn.first_text_ms for turn in whole),
        "first audio": figure_of(turn.first_audio_ms for turn in whole),
    }
    times: dict[Stage, float | None] = {"end of speech": 0.0 if whole else None}
    for stage in STAGE_CLASSES:
        figure = medians.get(stage)
        if figure is not None:
            times[stage] = figure.p50
    return waterfall(times)


def _places(fall: Waterfall) -> list[int]:
    """Moments of the stages, from the end of speech."""
    zero_ms = fall.at_ms("end of speech") or 0
    return [step.at_ms - zero_ms for step in fall.steps]


def _latencies(turns: Sequence[TurnRow]) -> list[float]:
    return [turn.latency_ms for turn in turns if turn.latency_ms is not None]


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From zero, or from what lies below it, to a little more than the largest value."""
    low, high = min([0.0, *values]), max([100.0, *values])
    return low * 1.05, high * 1.05


def _ms(value: float | None) -> str:
    return "no latency" if value is None else f"{value:.0f} ms"
