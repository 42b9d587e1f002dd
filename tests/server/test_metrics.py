"""What Prometheus is told, read back as Prometheus reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from s2s_actors import __version__
from s2s_actors.actors.board import Board, PoolSnapshot, UnitSnapshot
from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.protocol.outputs import Count
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.server.metrics import Metrics
from tests.server.boards import no_load

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BASE_UNITS = ("seconds", "bytes", "ratio", "info", "total")
"""Ends of names that say what is counted (Prometheus' own rules for names)."""
COUNTED_THINGS = {
    "s2s_sessions_active",
    "s2s_queue_clients",
    "s2s_queue_limit_clients",
    "s2s_units",
    "s2s_overloaded",
    "s2s_ready",
    "s2s_backend_failing",
    "process_open_fds",
    "process_max_fds",
}


def scrape(board: Board, health: Health | None = None, *, is_ready: bool = True) -> str:
    answer = Metrics(board, health or no_load(), lambda: is_ready).answer()
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.body.decode()


def families(text: str) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(text: str, name: str, **labels: str) -> float:
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    assert len(found) == 1, f"{name} {labels} is there {len(found)} times"
    return found[0]


def in_use() -> Board:
    board = Board()
    idle = UnitSnapshot.first(0, 1.0)
    board.publish_unit(idle)
    board.publish_unit(replace(idle, index=1, state="active", session_id="sess_canary"))
    board.publish_unit(replace(idle, index=2, state="quarantined", session_id="sess_canary"))
    board.publish_pool(
        PoolSnapshot("serving", 2, 8, sessions_total=9, refused_total=1, waited_total=4)
    )
    board.count(
        Count(
            responses=1,
            input_tokens=10,
            output_tokens=20,
            audio_input_ms=1500,
            audio_output_ms=250,
            speculative_input_tokens=3,
            status="completed",
        )
    )
    board.tally.refused("session_limit_reached")
    board.tally.stage_replaced("tts")
    return board


def test_every_figure_of_the_board_is_told() -> None:
    text = scrape(in_use())
    assert value(text, "s2s_build_info", version=__version__) == 1
    assert value(text, "s2s_sessions_total") == 9
    assert value(text, "s2s_sessions_active") == 1
    assert value(text, "s2s_waited_total") == 4
    assert value(text, "s2s_queue_clients") == 2
    assert value(text, "s2s_queue_limit_clients") == 8
    assert value(text, "s2s_units", state="idle") == 1
    assert value(text, "s2s_units", state="quarantined") == 1
    assert value(text, "s2s_units", state="draining") == 0
    assert value(text, "s2s_refused_total", reason="session_limit_reached") == 1
    assert value(text, "s2s_stage_restarts_total", stage="tts") == 1
    assert value(text, "s2s_responses_total", status="completed") == 1
    assert value(text, "s2s_tokens_total", direction="input") == 10
    assert value(text, "s2s_tokens_total", direction="output") == 20
    assert value(text, "s2s_speculative_tokens_total", direction="input") == 3
    assert value(text, "s2s_audio_seconds_total", direction="input") == 1.5
    assert value(text, "s2s_audio_seconds_total", direction="output") == 0.25


def test_what_is_cut_dropped_and_failed_is_told() -> None:
    board = Board()
    board.tally.client_cut("no_pong")
    board.tally.event_dropped()
    board.tally.stage_failed("llm")
    text = scrape(board)
    assert value(text, "s2s_clients_cut_total", reason="no_pong") == 1
    assert value(text, "s2s_clients_cut_total", reason="not_reading") == 0
    assert value(text, "s2s_events_dropped_total") == 1
    assert value(text, "s2s_stage_failures_total", stage="llm") == 1
    assert value(text, "s2s_stage_failures_total", stage="conversation") == 0


def test_a_backend_that_is_taken_out_is_told_by_its_stage() -> None:
    board = Board()
    board.publish_pool(PoolSnapshot("serving", 0, 0, 0, 0, failing=("llm",)))
    text = scrape(board)
    shown = {
        stage: value(text, "s2s_backend_failing", stage=stage)
        for stage in ("vad", "stt", "llm", "tts")
    }
    assert shown == {"vad": 0, "stt": 0, "llm": 1, "tts": 0}


@pytest.mark.parametrize("is_ready", [True, False])
def test_whether_the_server_is_ready_is_told(is_ready: bool) -> None:
    assert value(scrape(Board(), is_ready=is_ready), "s2s_ready") == is_ready


def test_series_are_there_before_anything_happens() -> None:
    text = scrape(Board())
    assert value(text, "s2s_refused_total", reason="server_is_overloaded") == 0
    assert value(text, "s2s_responses_total", status="failed") == 0
    assert value(text, "s2s_stage_restarts_total", stage="llm") == 0
    assert value(text, "s2s_turn_latency_seconds_count") == 0


def test_waits_are_a_histogram_and_turns_without_an_answer_are_turns() -> None:
    board = Board()
    for waited_s in (0.05, 0.4, 0.4, 31.0, None):
        board.tally.turn_over(waited_s)
    text = scrape(board)
    assert value(text, "s2s_turns_total") == 5
    assert value(text, "s2s_turn_latency_seconds_bucket", le="0.1") == 1
    assert value(text, "s2s_turn_latency_seconds_bucket", le="0.5") == 3
    assert value(text, "s2s_turn_latency_seconds_bucket", le="30.0") == 3
    assert value(text, "s2s_turn_latency_seconds_bucket", le="+Inf") == 4
    assert value(text, "s2s_turn_latency_seconds_count") == 4
    assert value(text, "s2s_turn_latency_seconds_sum") == 31.85


def test_the_load_is_told_by_source() -> None:
    health = Health(ManualClock(), HealthLimits(0.5, 3.0))
    for _ in range(100):
        health.note("events", 1.0)
    text = scrape(Board(), health)
    assert value(text, "s2s_load_ratio") == 2.0
    assert value(text, "s2s_overloaded") == 1
    assert value(text, "s2s_event_loop_lag_seconds") == 1.0
    assert value(text, "s2s_late_seconds", source="events") == 1.0
    assert value(text, "s2s_late_seconds", source="hearing") == 0.0


def test_the_process_is_told_too() -> None:
    text = scrape(Board())
    assert value(text, "process_resident_memory_bytes") > 1e6
    assert value(text, "process_open_fds") > 0
    assert value(text, "process_cpu_seconds_total") > 0


def test_counters_stay_when_a_unit_is_built_anew() -> None:
    board = in_use()
    before = scrape(board)
    unit = board.unit(1)
    assert unit is not None
    board.publish_unit(unit.rebuilt(2.0))
    after = scrape(board)
    assert value(after, "s2s_units_replaced_total") == 1
    for name, family in families(before).items():
        if family.type == "counter" and not name.startswith("process"):
            later = families(after)[name]
            for old, new in zip(family.samples, later.samples, strict=True):
                assert new.labels == old.labels
                assert new.value >= old.value, old


def test_names_units_and_texts_keep_to_the_rules() -> None:
    text = scrape(in_use())
    for name, family in families(text).items():
        assert family.documentation, f"{name} lacks HELP"
        assert family.type in {"counter", "gauge", "histogram"}, f"{name} lacks TYPE"
        assert re.fullmatch(r"(s2s|process)_[a-z0-9_]+", name)
        shown = f"{name}_total" if family.type == "counter" else name
        assert shown.endswith(BASE_UNITS) or name in COUNTED_THINGS, shown
        assert not any(part in name for part in ("_ms", "milli", "percent", "_counter"))
    lines = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(lines) == len(set(lines)) == len(families(text))


def test_no_label_comes_from_a_client() -> None:
    text = scrape(in_use())
    assert "canary" not in text
    labels = {
        name
        for family in families(text).values()
        for sample in family.samples
        for name in sample.labels
    }
    assert labels == {
        "direction",
        "le",
        "reason",
        "source",
        "stage",
        "state",
        "status",
        "version",
    }
