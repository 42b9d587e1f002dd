"""What is published is whole, and totals add up."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from s2s_actors.actors.board import Board, PoolSnapshot, TurnSnapshot, UnitSnapshot, UsageTotals
from s2s_actors.actors.lease import Lease
from s2s_actors.protocol.outputs import Count
from s2s_actors.protocol.pacing import TurnPace

if TYPE_CHECKING:
    from s2s_actors.protocol.waterfall import Waterfall

IDLE = UnitSnapshot.first(0, 1.0)


def waterfall(total_ms: float) -> Waterfall:
    pace = TurnPace(0.0)
    pace.give_up("noise", total_ms)
    return pace.report()


def test_a_new_board_shows_a_server_that_is_starting_and_no_units() -> None:
    board = Board()
    assert board.pool().server_state == "starting"
    assert board.units() == ()
    assert board.usage() == UsageTotals()


def test_the_last_snapshot_of_a_unit_counts() -> None:
    board = Board()
    board.publish_unit(IDLE)
    board.publish_unit(replace(IDLE, index=1))
    active = replace(IDLE, state="active", session_id="sess")
    board.publish_unit(active)
    assert board.units() == (active, replace(IDLE, index=1))


def test_a_unit_is_unknown_before_its_first_snapshot() -> None:
    board = Board()
    assert board.unit(0) is None
    board.publish_unit(IDLE)
    assert board.unit(0) == IDLE


def test_a_snapshot_follows_the_unit_round() -> None:
    lease = Lease.issue(0, "sess")
    claimed = IDLE.moved_to("claimed", lease, 2.0)
    assert (claimed.session_id, claimed.epoch, claimed.claimed_at) == ("sess", lease.epoch, 2.0)
    active = claimed.moved_to("active", lease, 3.0)
    assert active == replace(claimed, state="active", since=3.0)
    idle = active.moved_to("draining", lease, 4.0).moved_to("idle", lease, 5.0)
    assert (idle.session_id, idle.claimed_at, idle.released_at, idle.since) == (None, 2.0, 5.0, 5.0)


def test_a_repair_is_not_a_change_of_state() -> None:
    active = IDLE.moved_to("active", None, 2.0)
    assert active.moved_to("active", None, 9.0) == active
    assert active.repaired() == replace(active, restarts=1)


def test_a_unit_that_was_rebuilt_has_ended_its_session_and_keeps_its_figures() -> None:
    active = replace(IDLE, state="active", session_id="sess", restarts=2, epoch=7)
    rebuilt = active.rebuilt(9.0)
    assert (rebuilt.state, rebuilt.session_id, rebuilt.released_at) == ("idle", None, 9.0)
    assert (rebuilt.restarts, rebuilt.epoch) == (3, 7)
    assert rebuilt.rebuilds == 1
    never_used = IDLE.rebuilt(9.0)
    assert never_used == replace(IDLE, restarts=1, rebuilds=1)
    assert never_used.rebuilt(10.0).rebuilds == 2


def test_what_a_reader_holds_does_not_change_under_it() -> None:
    board = Board()
    board.publish_unit(IDLE)
    seen = board.units()
    board.publish_unit(replace(IDLE, state="claimed"))
    assert seen == (IDLE,)


def test_the_last_turn_of_a_session_is_shown_while_it_holds_the_unit() -> None:
    board, lease = Board(), Lease.issue(0, "sess")
    active = IDLE.moved_to("claimed", lease, 2.0).moved_to("active", lease, 3.0)
    assert board.last_turn(active) is None
    board.publish_turn(lease, waterfall(600), 4.0)
    board.publish_turn(lease, waterfall(700), 5.0)
    assert board.last_turn(active) == TurnSnapshot(lease.epoch, waterfall(700), 5.0)
    assert board.last_turn(active.moved_to("draining", lease, 6.0)) is not None


def test_a_turn_belongs_to_its_unit_alone() -> None:
    board, lease, other = Board(), Lease.issue(0, "sess"), Lease.issue(1, "other")
    board.publish_turn(lease, waterfall(600), 4.0)
    neighbour = UnitSnapshot.first(1, 1.0).moved_to("claimed", other, 2.0)
    assert board.last_turn(neighbour) is None


def test_a_unit_shows_nothing_of_the_session_before() -> None:
    board, lease = Board(), Lease.issue(0, "sess")
    claimed = IDLE.moved_to("claimed", lease, 2.0)
    board.publish_turn(lease, waterfall(600), 3.0)
    idle = claimed.moved_to("draining", lease, 4.0).moved_to("idle", lease, 5.0)
    assert board.last_turn(idle) is None
    assert board.last_turn(idle.moved_to("claimed", Lease.issue(0, "next"), 6.0)) is None


def test_a_session_that_is_over_does_not_hide_the_turn_of_the_next() -> None:
    board, late, lease = Board(), Lease.issue(0, "sess"), Lease.issue(0, "next")
    board.publish_turn(lease, waterfall(600), 4.0)
    board.publish_turn(late, waterfall(700), 5.0)
    turn = board.last_turn(IDLE.moved_to("claimed", lease, 2.0))
    assert turn is not None
    assert turn.waterfall.total_ms == 600


def test_sessions_are_those_that_the_pool_has_granted() -> None:
    board = Board()
    board.publish_pool(PoolSnapshot("serving", 0, 4, sessions_total=7, refused_total=2))
    assert board.pool().refused_total == 2
    assert board.usage().sessions == 7


def test_every_kind_of_cost_is_added_up() -> None:
    board = Board()
    board.count(Count(responses=1, input_tokens=10, output_tokens=20, audio_output_ms=300))
    board.count(Count(input_tokens=1, audio_input_ms=40))
    board.count(Count(speculative_input_tokens=5, speculative_output_tokens=6))
    board.count(Count(speculative_input_tokens=1))
    assert board.usage() == UsageTotals(0, 1, 11, 20, 40, 300, 6, 6)


def test_turns_and_responses_are_tallied_by_how_they_ended() -> None:
    board = Board()
    board.publish_turn(Lease.issue(0, "sess"), waterfall(600), 1.0)
    pace = TurnPace(0.0)
    for at_ms, what in enumerate(("settled", "heard", "sound"), start=298):
        pace.reached(what, at_ms)  # type: ignore[arg-type]
    board.publish_turn(Lease.issue(0, "sess"), pace.report(), 1.0)
    board.count(Count(responses=1, status="cancelled"))
    board.count(Count(audio_input_ms=40))
    tallies = board.tally.read()
    assert tallies.turns_unanswered == 1
    assert (sum(tallies.turns_by_wait), tallies.turns_waited_s) == (1, 0.3)
    assert tallies.responses == {"cancelled": 1}


def test_no_count_is_lost_between_two_threads() -> None:
    board = Board()
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=_count_often, args=(board,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert board.usage().responses == 2000


def _count_often(board: Board) -> None:
    for _ in range(1000):
        board.count(Count(responses=1))
