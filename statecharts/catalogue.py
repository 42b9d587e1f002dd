"""All charts of the project, by the names that commands and documents use.

Each comes with everything that can happen to it, as data: the tests walk through all of it,
and the diagrams take the effects that they show from the same walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from statecharts.breaker import BreakerChart
from statecharts.connection import ConnectionChart
from statecharts.explore import Exploration, explore
from statecharts.pace import PaceChart
from statecharts.response import ResponseChart
from statecharts.server import ServerChart
from statecharts.stage import StageChart
from statecharts.turn import TurnChart
from statecharts.unit import UnitChart
from statecharts.walk import Stimulus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from statecharts.base import StrictChart

LEASES = ("A", "B")
"""Two are enough: a chart keeps one lease and only asks whether another equals it."""
SESSIONS = ("A", "B", "C")
"""As many as have to fail in a row before a breaker opens."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chart and what one has to know to walk through it.

    Attributes:
        chart: The chart.
        summary: What it is the life cycle of, in one line.
        stimuli: Everything that can happen to it; guards see each of their outcomes.
        resting: States in which nothing is owed: ``idle``, or the final ones.
    """

    chart: type[StrictChart]
    summary: str
    stimuli: tuple[Stimulus, ...]
    resting: tuple[str, ...]


def _for_each_lease(*events: str) -> tuple[Stimulus, ...]:
    return tuple(Stimulus.of(event, lease=lease) for event in events for lease in LEASES)


def _plain(*events: str) -> tuple[Stimulus, ...]:
    return tuple(Stimulus.of(event) for event in events)


ENTRIES: Mapping[str, Entry] = {
    "server": Entry(
        ServerChart,
        "The server process, from its start to the end of a graceful stop",
        _plain("ready", "drain", "emptied", "deadline", "force"),
        ("stopped",),
    ),
    "unit": Entry(
        UnitChart,
        "A unit: one whole pipeline, lent to one session at a time",
        (
            *_for_each_lease("claim", "start", "end_session", "drained"),
            *_for_each_lease("drain_timeout", "replaced", "retry_replace"),
            *(Stimulus.of("stage_crashed", lease=lease, stage="stt") for lease in LEASES),
        ),
        ("idle",),
    ),
    "connection": Entry(
        ConnectionChart,
        "A client's connection, from the wait for a unit to the end",
        _plain("granted", "refused", "server_close", "client_left", "unresponsive"),
        ("closed",),
    ),
    "breaker": Entry(
        BreakerChart,
        "A backend that all sessions share, as far as they show that it works",
        (
            *(Stimulus.of("failed", session=session) for session in SESSIONS),
            *_plain("worked", "time_over"),
            *(Stimulus.of(e, session=session) for e in ("admit", "left") for session in LEASES),
        ),
        ("closed",),
    ),
    "stage": Entry(
        StageChart,
        "A stage inside a unit: VAD, STT, LLM or TTS",
        _for_each_lease("bind", "begin", "finish", "session_end"),
        ("unbound",),
    ),
    "turn": Entry(
        TurnChart,
        "A turn: what the user says in one go",
        (
            *_plain("confirm", "pause", "resume", "missed"),
            Stimulus.of("known", wanted=True),
            Stimulus.of("known", wanted=False),
            Stimulus.of("commit", answer=True),
            Stimulus.of("commit", answer=False),
            *_plain("discard", "overtake"),
            Stimulus.of("heard", text="Hello."),
            Stimulus.of("heard", text=" "),
            *_plain("failed"),
        ),
        ("answering", "silent", "discarded"),
    ),
    "response": Entry(
        ResponseChart,
        "A response: what the assistant answers",
        (
            *_plain("context_ready"),
            *(
                Stimulus.of("generated", speech_left=speech_left, cut=cut)
                for speech_left in (True, False)
                for cut in (True, False)
            ),
            *_plain("spoken", "cancel", "fail"),
        ),
        ("completed", "incomplete", "cancelled", "failed"),
    ),
    "pace": Entry(
        PaceChart,
        "A user's wait, from the end of speech to the first sound of the answer",
        (
            *_plain("settled", "heard", "ready"),
            Stimulus.of("word", spoken=True),
            Stimulus.of("word", spoken=False),
            *_plain("sentence", "sound", "retract", "give_up"),
        ),
        ("answered", "unanswered"),
    ),
}

CHARTS: Mapping[str, type[StrictChart]] = {name: entry.chart for name, entry in ENTRIES.items()}


@cache
def exploration(name: str) -> Exploration:
    """Everything that the chart of this name can do.

    Raises:
        KeyError: There is no chart of this name.
    """
    return explore(ENTRIES[name].chart, ENTRIES[name].stimuli)
