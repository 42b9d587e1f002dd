"""The exploration finds what it is there for: each of these bugs is put in on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.actors import messages as m
from s2s_actors.actors.allocation import Allocation
from s2s_actors.actors.conversation import ConversationActor
from s2s_actors.actors.open_session import OpenSession
from s2s_actors.actors.pool import PoolActor
from s2s_actors.actors.stage import StageActor
from s2s_actors.actors.unit import UnitActor
from tests.exploration.finding import find_by
from tests.exploration.search import replay


def test_a_stage_that_drops_session_end_is_found_and_the_way_there_can_be_gone_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StageActor, "_advance", _without_marker)
    way = find_by(None, "one-after-the-other", "drains, and SESSION_END is lost")
    assert str(way.moves[-1]) == "step llm-0"
    monkeypatch.undo()
    replay(way)  # and without the bug it leads to no harm


_advance = StageActor._advance


def _without_marker(self: StageActor, event: str, message: Any) -> None:
    if not (event == "session_end" and self.stage == "llm"):
        _advance(self, event, message)


def _without_marker_when_unbound(self: StageActor, event: str, message: Any) -> None:
    # It looks right: a fresh stage has nothing to reset.
    if event != "session_end" or not self._chart.unbound.is_active:
        _advance(self, event, message)


def _without_a_second_marker(self: UnitActor, session: Any, stage: str) -> None:
    _replace_crashed(self, session, stage)
    if self._chart.draining.is_active:
        self._chart.take_effects()
        self._pipeline._slots["conversation"] = _Nowhere()  # type: ignore[assignment]


_replace_crashed = UnitActor._replace_crashed


class _Nowhere:
    """Takes what comes and keeps nothing."""

    def put(self, message: object) -> None:
        del message

    def fill(self, receiver: object) -> None:
        del receiver


def _no_replacement(self: UnitActor, session: Any) -> None:
    del self, session


def _work_for_anyone(self: ConversationActor, message: Any) -> None:
    if isinstance(message, m.ClientFrame) and self._open is not None:
        self.work(message)
    else:
        StageActor.handle(self, message)


def _back_by_number(self: Allocation, lease: Any) -> bool:
    if self._held.pop(lease.unit, None) is None:
        return False
    self._idle.append(lease.unit)
    return True


def _empty_at_once(self: PoolActor) -> None:
    if self._chart.draining.is_active:
        self._move("emptied")


def _end_twice(self: OpenSession, message: Any) -> None:
    _carry_out(self, message)
    if b'"response.done"' in (frames := self._client.frames)[-1]:  # type: ignore[attr-defined]
        frames.append(frames[-1])


_carry_out = OpenSession._do

BUGS: dict[str, tuple[type, str, Any, str, str]] = {
    # What is patched, with what, which accident brings it to light, and what is broken then.
    "a fresh stage keeps the marker": (
        *(StageActor, "_advance", _without_marker_when_unbound),
        *("crash", "SESSION_END is lost"),
    ),
    "the marker is not sent again": (
        *(UnitActor, "_replace_crashed", _without_a_second_marker),
        *("crash", "SESSION_END is lost"),
    ),
    "what hangs is not replaced": (
        *(UnitActor, "_replace_unresponsive", _no_replacement),
        *("wedge", "end up quarantined"),
    ),
    "the conversation works for anyone": (
        *(ConversationActor, "handle", _work_for_anyone),
        *("late", "sent what is not its own: canary-a"),
    ),
    "a unit comes back without its lease": (
        *(Allocation, "give_back", _back_by_number),
        *("late", "serves canary-b, and the pool does not know of it"),
    ),
    "a drain forgets who is there": (
        *(PoolActor, "_report_if_empty", _empty_at_once),
        *("shutdown", "has stopped, and still serves canary-a"),
    ),
    "a response ends twice": (
        *(OpenSession, "_do", _end_twice),
        *("fail", "ends twice"),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_that_needs_an_accident_is_found_and_its_trace_shows_it(
    bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name, instead, accident, broken = BUGS[bug]
    scenario = "one-after-the-other" if accident == "fail" else "hardly-there"
    monkeypatch.setattr(owner, name, instead)
    find_by(accident, scenario, broken)
