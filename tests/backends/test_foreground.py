"""Short work goes first, and long work gets on."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.foreground import Foreground
from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable

WANTED, GUESS = Urgency(), Urgency(speculative=True)
PATIENCE_S = 5.0


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_without_short_work_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2s_actors.backends.foreground.LONGEST_S", PATIENCE_S * 10)
    thread = in_thread(lambda: Foreground().give_way(GUESS))
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("short", "long", "waits"),
    [(WANTED, WANTED, True), (WANTED, GUESS, True), (GUESS, GUESS, True), (GUESS, WANTED, False)],
)
def test_long_work_waits_for_short_work_but_never_for_a_guess_if_it_is_wanted(
    *, short: Urgency, long: Urgency, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s2s_actors.backends.foreground.LONGEST_S", PATIENCE_S * 10)
    foreground, done = Foreground(), []

    def step() -> None:
        foreground.give_way(long)
        done.append("long")

    with foreground.work(short):
        thread = in_thread(step)
        if not waits:
            thread.join(PATIENCE_S)
        done.append("short")
    thread.join(PATIENCE_S)
    assert done == (["short", "long"] if waits else ["long", "short"])


def test_long_work_gets_on_however_much_short_work_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("s2s_actors.backends.foreground.LONGEST_S", 0.001)
    foreground = Foreground()
    with foreground.work(WANTED):
        thread = in_thread(lambda: foreground.give_way(WANTED))
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
