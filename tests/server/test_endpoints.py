"""What the server tells about itself."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.load import Queue
from s2s_actors.backends.base import ModelInfo
from s2s_actors.protocol.pacing import TurnPace
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.server.endpoints import Endpoints
from tests.server.boards import SERVING, FixedBoard, no_load, unit

if TYPE_CHECKING:
    from s2s_actors.actors.board import UnitSnapshot


class Loaded:
    """A backend of which only its description matters."""

    info = ModelInfo("tiny.en", "stt", "faster-whisper", "/secret/path")

    def warm_up(self) -> None:
        """Nothing to warm."""

    def close(self) -> None:
        """Nothing to free."""


def ask(path: str, board: FixedBoard | None = None, **options: Any) -> tuple[int, Any]:
    given: dict[str, Any] = {
        "health": no_load(),
        "is_draining": lambda: False,
        "show_session_ids": True,
        **options,
    }
    response = Endpoints(board or FixedBoard(), [Loaded()], **given).answer(path)
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Content-Length"] == str(len(response.body))
    return response.status_code, json.loads(response.body)


UNITS: tuple[UnitSnapshot, ...] = (
    unit(0),
    unit(1, "active", "sess_1"),
    unit(2, "draining", "sess_2"),
    unit(3, "quarantined", "sess_3"),
)


def test_the_pool_counts_every_state_and_every_unit_that_is_not_idle() -> None:
    pool = dataclasses.replace(SERVING, queue_length=2, queue_limit=8, estimated_wait_s=7.5)
    status, value = ask("/v1/pool", FixedBoard(*UNITS, pool=pool))
    assert status == 200
    assert set(value) == {"size", "in_use", "counts", "queue", "load", "totals", "units"}
    assert (value["size"], value["in_use"]) == (4, 3)
    assert value["counts"] == {
        "idle": 1,
        "claimed": 0,
        "active": 1,
        "draining": 1,
        "quarantined": 1,
    }
    assert value["queue"] == {
        "length": 2,
        "limit": 8,
        "oldest_wait_s": None,
        "estimated_wait_s": 7.5,
    }
    assert value["units"][1] == {
        "index": 1,
        "state": "active",
        "session_id": "sess_1",
        "since": 1.0,
        "claimed_at": None,
        "released_at": None,
        "restarts": 0,
        "epoch": 0,
        "last_turn": None,
    }


def test_the_pool_tells_how_long_the_first_of_the_line_has_waited_by_now() -> None:
    pool = dataclasses.replace(SERVING, waiting_since=time.time() - 5)
    shown = ask("/v1/pool", FixedBoard(pool=pool))[1]["queue"]["oldest_wait_s"]
    assert 5 <= shown < 60
    ahead = dataclasses.replace(SERVING, waiting_since=time.time() + 60)
    assert ask("/v1/pool", FixedBoard(pool=ahead))[1]["queue"]["oldest_wait_s"] == 0


def test_the_pool_counts_who_waited_and_who_was_refused_and_for_what() -> None:
    pool = dataclasses.replace(
        SERVING, sessions_total=9, waited_total=4, refused_total=3, refused_for_load_total=2
    )
    assert ask("/v1/pool", FixedBoard(pool=pool))[1]["totals"] == {
        "sessions": 9,
        "waited": 4,
        "refused": 3,
        "refused_for_load": 2,
    }


def busy() -> Health:
    """The health of a process that hears half a second too late."""
    health = Health(ManualClock(), HealthLimits(0.5, 3.0), lambda: {"stt": Queue(3, 0, 1.5)})
    for _ in range(100):
        health.note("hearing", 1.0)
    return health


def test_the_load_is_told_as_a_figure_and_in_words() -> None:
    assert ask("/v1/pool", FixedBoard(*UNITS), health=busy())[1]["load"] == {
        "figure": 2.0,
        "admitting": False,
        "over": ["hearing is 1.0 s behind"],
        "late_s": {"hearing": 1.0, "events": 0.0, "stt": 1.5, "llm": 0.0, "tts": 0.0},
    }
    assert ask("/v1/pool", FixedBoard(*UNITS))[1]["load"] == {
        "figure": 0.0,
        "admitting": True,
        "over": [],
        "late_s": dict.fromkeys(("hearing", "events", "stt", "llm", "tts"), 0.0),
    }


def test_an_overloaded_server_is_not_ready_and_says_why() -> None:
    assert ask("/ready", FixedBoard(*UNITS), health=busy()) == (
        503,
        {
            "ready": False,
            "state": "serving",
            "reason": "overloaded",
            "over": ["hearing is 1.0 s behind"],
        },
    )


def test_a_server_with_a_backend_that_fails_is_not_ready_and_says_which() -> None:
    failing = dataclasses.replace(SERVING, failing=("llm", "tts"))
    expected = {"ready": False, "state": "serving", "reason": "backend_failing"}
    for health in (no_load(), busy()):  # that it is busy too is the lesser news
        status, value = ask("/ready", FixedBoard(*UNITS, pool=failing), health=health)
        assert status == 503
        assert value | expected == value
        assert value["stages"] == ["llm", "tts"]


def test_a_server_without_sessions_is_ready_whatever_its_load() -> None:
    board = FixedBoard(unit(0), unit(1))
    assert ask("/ready", board, health=busy()) == (200, {"ready": True, "state": "serving"})
    assert ask("/v1/pool", board, health=busy())[1]["load"]["admitting"]


def test_the_pool_tells_how_long_the_last_turn_of_a_session_waited_and_why() -> None:
    lease = Lease(1, "sess_1", epoch=0)
    pace = TurnPace(0.0)
    for what, at_ms in {"settled": 512.0, "heard": 530.0, "sound": 548.0}.items():
        pace.reached(what, at_ms)  # type: ignore[arg-type]
    board = FixedBoard(*UNITS)
    board.publish_turn(lease, pace.report(), 1_700_000_000.5)
    units = ask("/v1/pool", board)[1]["units"]
    assert units[1]["last_turn"] == {
        "steps": [
            {"name": "settling", "ms": 512},
            {"name": "recognizing", "ms": 18},
            {"name": "preparing", "ms": 18},
            {"name": "thinking", "ms": 0},
            {"name": "writing", "ms": 0},
            {"name": "voicing", "ms": 0},
        ],
        "total_ms": 548,
        "reason": "the silence that ends a turn (512 of 548 ms)",
        "at": 1_700_000_000.5,
    }
    assert [unit["last_turn"] for unit in (units[0], *units[2:])] == [None] * 3


def test_session_ids_are_shown_only_to_who_may_see_them() -> None:
    _, value = ask("/v1/pool", FixedBoard(*UNITS), show_session_ids=False)
    assert {each["session_id"] for each in value["units"]} == {None}


def test_usage_is_told_in_totals() -> None:
    assert ask("/v1/usage") == (
        200,
        {
            "sessions": 1,
            "responses": 2,
            "input_tokens": 3,
            "output_tokens": 4,
            "audio_input_ms": 5,
            "audio_output_ms": 6,
            "speculative_input_tokens": 0,
            "speculative_output_tokens": 0,
        },
    )


def test_models_are_listed_as_clients_of_openai_expect_and_paths_stay_private() -> None:
    status, value = ask("/v1/models")
    assert (status, value["object"]) == (200, "list")
    (model,) = value["data"]
    assert isinstance(model.pop("created"), int)
    assert model == {
        "id": "tiny.en",
        "object": "model",
        "owned_by": "s2s_actors",
        "kind": "stt",
        "backend": "faster-whisper",
    }


def test_the_server_is_alive_whatever_its_state() -> None:
    board = FixedBoard(pool=dataclasses.replace(SERVING, server_state="starting"))
    assert ask("/health", board) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("state", "status"), [("starting", 503), ("serving", 200), ("draining", 503), ("stopped", 503)]
)
def test_the_server_is_ready_only_while_it_serves(state: str, status: int) -> None:
    board = FixedBoard(pool=dataclasses.replace(SERVING, server_state=state))
    assert ask("/ready", board) == (status, {"ready": status == 200, "state": state})


def test_readiness_ends_at_once_when_the_server_is_asked_to_stop() -> None:
    status, value = ask("/ready", is_draining=lambda: True)
    assert (status, value["state"]) == (503, "draining")


def test_a_server_without_a_single_usable_unit_is_not_ready() -> None:
    assert ask("/ready", FixedBoard(unit(0, "quarantined")))[0] == 503
    assert ask("/ready", FixedBoard(unit(0, "quarantined"), unit(1, "active")))[0] == 200


def test_a_wrong_path_is_answered_with_the_paths_there_are() -> None:
    status, value = ask("/v1/pools")
    assert status == 404
    assert value["error"]["code"] == "not_found"
    assert "/v1/pool" in value["paths"]
    assert "/v1/realtime" in value["paths"]
