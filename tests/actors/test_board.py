"""What is published is whole, and totals add up."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

from s2s_actors.actors.board import Board, PoolSnapshot, UnitSnapshot, UsageTotals
from s2s_actors.protocol.outputs import Count

IDLE = UnitSnapshot(
    index=0,
    state="idle",
    session_id=None,
    since=1.0,
    claimed_at=None,
    released_at=None,
    restarts=0,
    epoch=0,
)


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


def test_what_a_reader_holds_does_not_change_under_it() -> None:
    board = Board()
    board.publish_unit(IDLE)
    seen = board.units()
    board.publish_unit(replace(IDLE, state="claimed"))
    assert seen == (IDLE,)


def test_sessions_are_those_that_the_pool_has_granted() -> None:
    board = Board()
    board.publish_pool(PoolSnapshot("serving", 0, 4, sessions_total=7, refused_total=2))
    assert board.pool().refused_total == 2
    assert board.usage().sessions == 7


def test_every_kind_of_cost_is_added_up() -> None:
    board = Board()
    board.count(Count(responses=1, input_tokens=10, output_tokens=20, audio_output_ms=300))
    board.count(Count(input_tokens=1, audio_input_ms=40))
    assert board.usage() == UsageTotals(0, 1, 11, 20, 40, 300)


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
