"""A snapshot of the pool as a table, lenient with what it does not know."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from s2s_actors.client.pool_table import age, pool_table


def table_of(pool: dict[str, object], *, colour: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, markup=False, force_terminal=colour)
    console.print(pool_table(pool, now_s=1_000.0))
    return stream.getvalue()


def unit(state: str, index: int = 0) -> dict[str, object]:
    return {"index": index, "state": state, "session_id": None, "since": 940.0, "restarts": 1}


def test_every_state_has_its_colour() -> None:
    states = ["idle", "claimed", "active", "draining", "quarantined"]
    pool: dict[str, object] = {"units": [unit(state, i) for i, state in enumerate(states)]}
    lines = table_of(pool, colour=True).splitlines()[2:]
    colours = [line.partition("m")[0] for line in (entry[entry.index("\x1b") :] for entry in lines)]
    assert len(set(colours)) == 5


def test_ages_count_from_the_last_change() -> None:
    assert "1 min 00 s" in table_of({"units": [unit("idle")]})


@pytest.mark.parametrize(
    ("since", "shown"),
    [
        (999.2, "0 s"),
        (1_000.5, "0 s"),
        (941, "59 s"),
        (-6_200.0, "2 h 00 min"),
        ("1970-01-01T00:16:30+00:00", "10 s"),
        ("1970-01-01T00:16:30Z", "10 s"),
        ("yesterday", ""),
        (None, ""),
        (True, ""),
    ],
)
def test_an_age_is_short(since: object, shown: str) -> None:
    assert age(since, 1_000.0) == shown


@pytest.mark.parametrize("pool", [{}, {"units": "none"}, {"units": [7]}, {"counts": 1, "queue": 2}])
def test_an_answer_of_another_shape_does_not_break_it(pool: dict[str, object]) -> None:
    assert "units in use" in table_of(pool)


def test_the_last_turn_of_a_unit_is_told_with_its_reason() -> None:
    turn = {"total_ms": 548, "reason": "speech recognition (312 of 548 ms)", "at": 988.0}
    printed = table_of({"units": [unit("idle"), {**unit("active", 1), "last_turn": turn}]})
    last = printed.splitlines()[-1].rstrip()
    assert last == "unit 1  548 ms  12 s ago  speech recognition (312 of 548 ms)"
    assert "unit 0" not in printed


@pytest.mark.parametrize("turn", [None, 7, {}, {"total_ms": [], "reason": "\x1b[2J", "at": "?"}])
def test_a_turn_of_another_shape_does_not_break_it(turn: object) -> None:
    printed = table_of({"units": [{**unit("active"), "last_turn": turn}]})
    assert "active" in printed
    assert "\x1b" not in printed


def test_the_load_has_a_line_and_says_why_new_sessions_must_wait() -> None:
    load = {"figure": 1.6, "admitting": False, "over": ["hearing is 0.8 s behind"]}
    assert table_of({"load": load}).splitlines()[1].rstrip() == (
        "load 160% of what is in time  new sessions must wait: hearing is 0.8 s behind"
    )
    calm = table_of({"load": {"figure": 0.2, "admitting": True, "over": []}})
    assert calm.splitlines()[1].rstrip() == "load 20% of what is in time"


@pytest.mark.parametrize(
    "load",
    [None, 7, {}, {"figure": "x"}, {"figure": 1, "over": 3}, {"figure": 1, "over": ["\x1b"]}],
)
def test_a_load_of_another_shape_does_not_break_it(load: object) -> None:
    printed = table_of({"load": load, "units": [unit("idle")]})
    assert "idle" in printed
    assert "\x1b" not in printed


def test_the_line_tells_how_long_its_first_one_has_waited() -> None:
    queue = {"length": 3, "limit": 8, "oldest_wait_s": 75.2, "estimated_wait_s": None}
    assert "3 waiting, the first for 1 min 15 s" in table_of({"queue": queue})
    assert "2 waiting" in table_of({"queue": {"length": 2, "oldest_wait_s": None}})


def test_a_session_id_can_t_steer_the_terminal() -> None:
    assert "\x1b" not in table_of({"units": [{**unit("active"), "session_id": "\x1b[2J"}]})


def test_a_narrow_terminal_gets_a_narrow_table() -> None:
    turn = {"total_ms": 548, "reason": "speech recognition (312 of 548 ms)", "at": 988.0}
    units: list[object] = [{**unit("quarantined"), "last_turn": turn}]
    lines = table_of({"units": units}, width=40).splitlines()
    assert max(map(len, lines)) <= 40
