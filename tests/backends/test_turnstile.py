"""The turnstile is fair, guesses give way, and cancelled calls leave the queue."""

from __future__ import annotations

import threading

import pytest

from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.urgency import Urgency

HANG_S = 20.0
WANTED = Urgency()


def _wait_until_queued(turnstile: Turnstile, count: int) -> None:
    pause = threading.Event()
    for _ in range(int(HANG_S * 1000)):
        if len(turnstile._queue) == count:
            return
        pause.wait(0.001)
    raise AssertionError("nobody came")


def test_calls_get_their_turn_in_the_order_in_which_they_came() -> None:
    turnstile = Turnstile()
    order: list[int] = []

    def use(number: int) -> None:
        with turnstile.turn(CancelToken(), WANTED) as go_on:
            assert go_on
            order.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(5)]
    with turnstile.turn(CancelToken(), WANTED):
        for number, thread in enumerate(threads):
            thread.start()
            _wait_until_queued(turnstile, number + 1)
    for thread in threads:
        thread.join(HANG_S)
    assert order == list(range(5))


def _order_of(urgencies: dict[str, Urgency], *, right: str | None = None) -> list[str]:
    """Who gets a turn when, if all come in this order while the turnstile is taken.

    Args:
        urgencies: Each call's, in the order of their coming.
        right: The call whose guess proves right when all wait.
    """
    turnstile = Turnstile()
    order: list[str] = []

    def use(name: str) -> None:
        with turnstile.turn(CancelToken(), urgencies[name]) as go_on:
            assert go_on
            order.append(name)

    threads = [threading.Thread(target=use, args=(name,)) for name in urgencies]
    with turnstile.turn(CancelToken(), WANTED):
        for number, thread in enumerate(threads):
            thread.start()
            _wait_until_queued(turnstile, number + 1)
        if right:
            urgencies[right].commit()
    for thread in threads:
        thread.join(HANG_S)
    return order


def _guess() -> Urgency:
    return Urgency(speculative=True)


def test_guesses_give_way_to_what_is_wanted() -> None:
    calls = {"guess 1": _guess(), "wanted 1": WANTED, "guess 2": _guess(), "wanted 2": WANTED}
    assert _order_of(calls) == ["wanted 1", "wanted 2", "guess 1", "guess 2"]


def test_a_guess_that_proves_right_while_it_waits_keeps_its_place() -> None:
    calls = {"guess 1": _guess(), "wanted 1": WANTED, "guess 2": _guess(), "wanted 2": WANTED}
    assert _order_of(calls, right="guess 2") == ["wanted 1", "guess 2", "wanted 2", "guess 1"]
    calls = {"guess 1": _guess(), "wanted 1": WANTED}
    assert _order_of(calls, right="guess 1") == ["guess 1", "wanted 1"]


def test_a_guess_needs_no_wait_where_a_place_is_free() -> None:
    turnstile = Turnstile(2)
    with (
        turnstile.turn(CancelToken(), WANTED),
        turnstile.turn(CancelToken(), _guess()) as go_on,
    ):
        assert go_on


def test_a_loop_lets_others_in_between() -> None:
    turnstile = Turnstile()
    steps: list[str] = []

    def write(name: str) -> None:
        for _ in range(50):
            with turnstile.turn(CancelToken(), WANTED):
                steps.append(name)
                threading.Event().wait(0.0005)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    first_half = steps[:50]
    assert min(first_half.count("a"), first_half.count("b")) > 10


def test_a_cancelled_call_leaves_the_queue() -> None:
    turnstile = Turnstile()
    token = CancelToken()
    seen: list[bool] = []

    def use() -> None:
        with turnstile.turn(token, WANTED) as go_on:
            seen.append(go_on)

    thread = threading.Thread(target=use)
    with turnstile.turn(CancelToken(), WANTED):
        thread.start()
        _wait_until_queued(turnstile, 1)
        token.cancel()
        thread.join(HANG_S)
        assert seen == [False]
    with turnstile.turn(CancelToken(), WANTED) as go_on:
        assert go_on


def test_a_failure_inside_gives_the_turn_back() -> None:
    turnstile = Turnstile()
    with pytest.raises(LookupError), turnstile.turn(CancelToken(), WANTED):
        raise LookupError
    with turnstile.turn(CancelToken(), WANTED) as go_on:
        assert go_on
