"""What the server tells about itself over plain GET."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from s2s_actors.server.answers import error_response, json_response
from s2s_actors.server.insight import ANYONE
from s2s_actors.server.metrics import UNIT_STATES, Metrics
from s2s_actors.server.readiness import Readiness, in_use, readiness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from websockets.http11 import Response

    from s2s_actors.actors.board import Board, PoolSnapshot, TurnSnapshot, UnitSnapshot
    from s2s_actors.actors.health import Health, LoadReport
    from s2s_actors.actors.tally import Tally
    from s2s_actors.backends.base import Backend
    from s2s_actors.server.insight import Insight

_FIGURES: Final = frozenset({"/metrics", "/v1/usage"})
"""What is told only to who may see figures."""


class Endpoints:
    """Answers by path, from published snapshots only: no actor is asked, nothing waits.

    Promises: who may not see figures learns from the pool how full it is, and nothing of what
    any client does.

    Args:
        board: Where the actors publish.
        models: What is loaded.
        health: How far the process is behind.
        is_draining: Whether the server has been asked to stop, which the board may not
            know yet.
        show_session_ids: Whether who asks without a key, where nobody needs one, may know
            the sessions' ids.
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
            "/metrics": Metrics(board, health, lambda: self._readiness().is_ready).answer,
            "/v1/usage": self._usage,
            "/v1/models": self._list_models,
            **(more or {}),
        }

    def answer(self, path: str, insight: Callable[[], Insight] = lambda: ANYONE) -> Response:
        """The answer to ``GET path``.

        Args:
            path: Without its query.
            insight: What whoever asks may be told; asked only where that matters.
        """
        if path == "/v1/pool":
            return self._pool(insight())
        if path in _FIGURES and (refusal := insight().refusal) is not None:
            self.tally.refused(refusal.reason)
            return refusal.response
        route = self._routes.get(path)
        return self.not_found(path) if route is None else route()

    @property
    def tally(self) -> Tally:
        """Where those count who see more of clients than is told here."""
        return self._board.tally

    @property
    def paths(self) -> list[str]:
        """All that is answered here."""
        return sorted([*self._routes, "/v1/pool"])

    def not_found(self, path: str, paths: list[str] | None = None) -> Response:
        """Say which paths there are; by default those of the websocket's port."""
        return error_response(
            HTTPStatus.NOT_FOUND,
            "not_found",
            f"There is nothing at {path[:200]}.",
            paths=sorted(paths or [*self.paths, "/v1/realtime"]),
        )

    def _health(self) -> Response:
        return json_response(HTTPStatus.OK, {"status": "ok"})

    def _ready(self) -> Response:
        now = self._readiness()
        status = HTTPStatus.OK if now.is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        value: dict[str, object] = {"ready": now.is_ready, "state": now.state}
        if not now.is_admitting:
            value |= {"reason": "overloaded", "over": now.load.over}
        if now.failing:
            value |= {"reason": "backend_failing", "stages": now.failing}
        return json_response(status, value)

    def _readiness(self) -> Readiness:
        return readiness(self._board, self._vitals, is_draining=self._is_draining())

    def _pool(self, insight: Insight) -> Response:
        units, pool = self._board.units(), self._board.pool()
        states = Counter(unit.state for unit in units)
        value = {
            "size": len(units),
            "in_use": in_use(units),
            "counts": {state: states[state] for state in UNIT_STATES},
            "queue": _shown_queue(pool),
            "load": _shown_load(self._vitals.read(), in_use(units)),
            "totals": {
                "sessions": pool.sessions_total,
                "waited": pool.waited_total,
                "refused": pool.refused_total,
                "refused_for_load": pool.refused_for_load_total,
            },
            "units": [self._unit(unit, insight) for unit in units],
        }
        return json_response(HTTPStatus.OK, value)

    def _unit(self, unit: UnitSnapshot, insight: Insight) -> dict[str, object]:
        sees = insight.refusal is None
        shows_id = sees and (insight.has_key or self._show_session_ids)
        return {
            "index": unit.index,
            "state": unit.state,
            "session_id": unit.session_id if shows_id else None,
            "since": unit.since if sees else None,
            "claimed_at": unit.claimed_at if sees else None,
            "released_at": unit.released_at if sees else None,
            "restarts": unit.restarts,
            "epoch": unit.epoch if sees else None,
            "last_turn": _shown_turn(self._board.last_turn(unit)) if sees else None,
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
