"""The server's figures for Prometheus, reckoned when somebody asks for them."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeVar, get_args

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from s2s_actors import __version__
from s2s_actors.actors.breakers import STAGES as BACKEND_STAGES
from s2s_actors.actors.tally import TURN_BOUNDS_S
from s2s_actors.server.answers import response
from statecharts.response import Status
from statecharts.unit import UnitChart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prometheus_client.core import Metric
    from websockets.http11 import Response

    from s2s_actors.actors.board import Board
    from s2s_actors.actors.health import Health
    from s2s_actors.actors.tally import Tallies

__all__ = ["UNIT_STATES", "Metrics"]

UNIT_STATES: Final = tuple(str(state.value) for state in UnitChart.states)
_IN_SESSION: Final = ("claimed", "active")
_STAGES: Final = ("conversation", *BACKEND_STAGES)
_F = TypeVar("_F", CounterMetricFamily, GaugeMetricFamily)

_REFUSALS: Final = (
    # By the pool: codes of the protocol.
    "backend_failing",
    "server_is_overloaded",
    "server_shutting_down",
    "server_starting",
    "session_limit_reached",
    # At the door.
    "client_secrets_need_keys",
    "invalid_api_key",
    "invalid_client_secret",
    "invalid_request",
    "missing_api_key",
    "origin_not_allowed",
    "too_many_connections",
    "too_many_newcomers",
    # By the limits of a key; of which one, the log tells.
    "key_audio_minutes",
    "key_client_secrets",
    "key_sessions",
    "key_sessions_per_minute",
)
"""Series that are there from the beginning: one that begins with its first event hides that event
from ``increase()``."""
_CUTS: Final = ("no_pong", "not_reading")


class Metrics:
    """Answers ``GET /metrics`` in the text format, version 0.0.4.

    Promises: nothing is counted here, so what is not asked for costs nothing; counters never go
    down while the process lives; labels have values of the server's own, never a client's.

    Args:
        board: Where the actors publish.
        health: How far the process is behind.
        is_ready: What ``/ready`` says.
    """

    def __init__(self, board: Board, health: Health, is_ready: Callable[[], bool]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Figures(board, health, is_ready))
        ProcessCollector(registry=self._registry)

    def answer(self) -> Response:
        """All figures by now."""
        return response(HTTPStatus.OK, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry))


class _Figures(Collector):
    """Reads what is published, at one moment for each family."""

    def __init__(self, board: Board, health: Health, is_ready: Callable[[], bool]) -> None:
        self._board = board
        self._health = health
        self._is_ready = is_ready

    def collect(self) -> Iterable[Metric]:
        tallies = self._board.tally.read()
        yield _gauge("s2s_build_info", "What runs here.", {__version__: 1}, "version")
        yield _gauge("s2s_ready", "1 while /ready answers 200.", self._is_ready())
        yield from self._sessions(tallies)
        yield from self._units(tallies)
        yield from self._work(tallies)
        yield from self._load()

    def _sessions(self, tallies: Tallies) -> Iterator[Metric]:
        pool, units = self._board.pool(), self._board.units()
        active = sum(unit.state in _IN_SESSION for unit in units)
        yield _counter("s2s_sessions", "Sessions that got a unit.", pool.sessions_total)
        yield _gauge("s2s_sessions_active", "Sessions that run.", active)
        text = "Clients that were sent away."
        yield _counts("s2s_refused", text, _REFUSALS, tallies.refused, "reason")
        yield _counter("s2s_waited", "Clients that had to wait for a unit.", pool.waited_total)
        yield _gauge("s2s_queue_clients", "Clients that wait for a unit.", pool.queue_length)
        yield _gauge("s2s_queue_limit_clients", "Clients that may wait.", pool.queue_limit)
        text = "Clients that were cut off."
        yield _counts("s2s_clients_cut", text, _CUTS, tallies.clients_cut, "reason")
        text = "Events of clients that came faster than they could be handled."
        yield _counter("s2s_events_dropped", text, tallies.events_dropped)

    def _units(self, tallies: Tallies) -> Iterator[Metric]:
        units = self._board.units()
        found = Counter(unit.state for unit in units)
        states = {state: found[state] for state in UNIT_STATES}
        yield _gauge("s2s_units", "Units by what they do.", states, "state")
        text = "Stages that were replaced."
        yield _counts("s2s_stage_restarts", text, _STAGES, tallies.stages_replaced, "stage")
        text = "Failures of stages that no request is to blame for."
        yield _counts("s2s_stage_failures", text, _STAGES, tallies.stages_failed, "stage")
        failing = self._board.pool().failing
        out = {stage: float(stage in failing) for stage in BACKEND_STAGES}
        text = "1 while nobody may come in because of this backend."
        yield _gauge("s2s_backend_failing", text, out, "stage")
        rebuilds = sum(unit.rebuilds for unit in units)
        yield _counter("s2s_units_replaced", "Units that were built anew.", rebuilds)

    def _work(self, tallies: Tallies) -> Iterator[Metric]:
        usage, waits = self._board.usage(), list(accumulate(tallies.turns_by_wait))
        turns = waits[-1] + tallies.turns_unanswered
        yield _counter("s2s_turns", "Turns of users that are over, answered or not.", turns)
        yield HistogramMetricFamily(
            "s2s_turn_latency_seconds",
            "From the end of a user's speech to the beginning of the answer.",
            buckets=list(zip([*map(str, TURN_BOUNDS_S), "+Inf"], waits, strict=True)),
            sum_value=tallies.turns_waited_s,
        )
        text = "Responses that are over."
        yield _counts("s2s_responses", text, get_args(Status), tallies.responses, "status")
        tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
        yield _counter("s2s_tokens", "Tokens of the language model.", tokens, "direction")
        drafts = {
            "input": usage.speculative_input_tokens,
            "output": usage.speculative_output_tokens,
        }
        text = "Tokens of drafts that came to nothing; in no other figure."
        yield _counter("s2s_speculative_tokens", text, drafts, "direction")
        audio_s = {
            "input": usage.audio_input_ms / 1000,
            "output": usage.audio_output_ms / 1000,
        }
        yield _counter("s2s_audio_seconds", "Speech heard and spoken.", audio_s, "direction")

    def _load(self) -> Iterator[Metric]:
        load = self._health.read()
        late_s = {each.source: each.late_s for each in load.sources}
        yield _gauge(
            "s2s_load_ratio", "Largest share of a limit that is used up; 1 is full.", load.figure
        )
        yield _gauge("s2s_overloaded", "1 while new sessions have to wait.", load.overloaded)
        yield _gauge(
            "s2s_event_loop_lag_seconds",
            "What nine in ten events are not later than.",
            late_s["events"],
        )
        yield _gauge("s2s_late_seconds", "How late each part of the work is.", late_s, "source")


def _counter(
    name: str, text: str, value: float | Mapping[str, float], label: str = ""
) -> CounterMetricFamily:
    return _family(CounterMetricFamily, name, text, value, label)


def _counts(
    name: str, text: str, known: Iterable[str], found: Mapping[str, int], label: str
) -> CounterMetricFamily:
    """A series for each value that is known, at 0 until something has happened."""
    return _counter(name, text, dict.fromkeys(known, 0) | dict(found), label)


def _gauge(
    name: str, text: str, value: float | Mapping[str, float], label: str = ""
) -> GaugeMetricFamily:
    return _family(GaugeMetricFamily, name, text, value, label)


def _family(
    kind: type[_F], name: str, text: str, value: float | Mapping[str, float], label: str
) -> _F:
    """One series, or one for each value of a label."""
    if isinstance(value, (int, float)):
        return kind(name, text, value=value)
    family = kind(name, text, labels=[label])
    for each, figure in value.items():
        family.add_metric([each], figure)
    return family
