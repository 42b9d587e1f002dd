"""What the server tells about itself over plain GET."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING

from s2s_actors.server.answers import error_response, json_response
from statecharts.unit import UnitChart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from websockets.http11 import Response

    from s2s_actors.actors.board import Board, PoolSnapshot, TurnSnapshot, UnitSnapshot
    from s2s_actors.actors.health import Health, LoadReport
    from s2s_actors.backends.base import Backend

UNIT_STATES = tuple(str(state.value) for state in UnitChart.states)


class Endpoints:
    """Answers by path, from published snapshots only: no actor is asked, nothing waits.

    Args:
        board: Where the actors publish.
        models: What is loaded.
        health: How far the process is behind.
        is_draining: Whether the server has been asked to stop, which the board may not
            know yet.
        show_session_ids: Whether whoever can ask may know the sessions' ids.
        more: Further paths and what answers them.
    """

    def __init__(  # noqa: PLR0913 - it tells of everything
        self,
        board: Board,
        models: Iterable[Backend],
        *,
        health: Health,
        is_draining: Callable[[], bool],
        show_session_ids: bool,
        more: Mapping[str, Callable[[], Response]] | None = None,
    ) -> None:
        self._board = board
        self._models = tuple(models)
        self._vitals = health
        self._is_draining = is_draining
        self._show_session_ids = show_session_ids
        self._since_s = int(time.time())
        self._routes: dict[str, Callable[[], Response]] = {
            "/health": self._health,
            "/ready": self._ready,
            "/v1/pool": self._pool,
            "/v1/usage": self._usage,
            "/v1/models": self._list_models,
            **(more or {}),
        }

    def answer(self, path: str) -> Response:
        """The answer to ``GET path``."""
        route = self._routes.get(path)
        return self.not_found(path) if route is None else route()

    def not_found(self, path: str) -> Response:
        """Say which paths there are."""
        return error_response(
            HTTPStatus.NOT_FOUND,
            "not_found",
            f"There is nothing at {path[:200]}.",
            paths=sorted([*self._routes, "/v1/realtime"]),
        )

    def _health(self) -> Response:
        return json_response(HTTPStatus.OK, {"status": "ok"})

    def _ready(self) -> Response:
        state = "draining" if self._is_draining() else self._board.pool().server_state
        units = self._board.units()
        usable = any(unit.state != "quarantined" for unit in units)
        load = self._vitals.read()
        admitting = load.admits(_in_use(units))
        ready = state == "serving" and usable and admitting
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        value: dict[str, object] = {"ready": ready, "state": state}
        if not admitting:
            value |= {"reason": "overloaded", "over": load.over}
        return json_response(status, value)

    def _pool(self) -> Response:
        units, pool = self._board.units(), self._board.pool()
        states = Counter(unit.state for unit in units)
        value = {
            "size": len(units),
            "in_use": _in_use(units),
            "counts": {state: states[state] for state in UNIT_STATES},
            "queue": _shown_queue(pool),
            "load": _shown_load(self._vitals.read(), _in_use(units)),
            "totals": {
                "sessions": pool.sessions_total,
                "waited": pool.waited_total,
                "refused": pool.refused_total,
                "refused_for_load": pool.refused_for_load_total,
            },
            "units": [self._unit(unit) for unit in units],
        }
        return json_response(HTTPStatus.OK, value)

    def _unit(self, unit: UnitSnapshot) -> dict[str, object]:
        return {
            "index": unit.index,
            "state": unit.state,
            "session_id": unit.session_id if self._show_session_ids else None,
            "since": unit.since,
            "claimed_at": unit.claimed_at,
            "released_at": unit.released_at,
            "restarts": unit.restarts,
            "epoch": unit.epoch,
            "last_turn": _shown_turn(self._board.last_turn(unit)),
        }

    def _usage(self) -> Response:
        return json_response(HTTPStatus.OK, dataclasses.asdict(self._board.usage()))

    def _list_models(self) -> Response:
        data = [
            {
                "id": info.id,
                "object": "model",
                "created": self._since_s,
                "owned_by": "s2s_actors",
                "kind": info.kind,
                "backend": info.backend,
            }
            for info in (backend.info for backend in self._models)
        ]
        return json_response(HTTPStatus.OK, {"object": "list", "data": data})


def _in_use(units: Iterable[UnitSnapshot]) -> int:
    return sum(unit.state != "idle" for unit in units)


def _shown_queue(pool: PoolSnapshot) -> dict[str, object]:
    since, wait_s = pool.waiting_since, pool.estimated_wait_s
    return {
        "length": pool.queue_length,
        "limit": pool.queue_limit,
        "oldest_wait_s": None if since is None else round(max(0.0, time.time() - since), 3),
        "estimated_wait_s": None if wait_s is None else round(wait_s, 1),
    }


def _shown_load(load: LoadReport, sessions: int) -> dict[str, object]:
    return {
        "figure": round(load.figure, 2),
        "admitting": load.admits(sessions),
        "over": load.over,
        "late_s": {each.source: round(each.late_s, 3) for each in load.sources},
    }


def _shown_turn(turn: TurnSnapshot | None) -> dict[str, object] | None:
    if turn is None:
        return None
    waterfall = turn.waterfall
    return {
        "steps": [{"name": step.name, "ms": step.ms} for step in waterfall.steps],
        "total_ms": waterfall.total_ms,
        "reason": waterfall.reason,
        "at": turn.at,
    }
