"""The turnstile is fair, and cancelled calls leave the queue."""

from __future__ import annotations

import threading

import pytest

from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.runtime.cancel import CancelToken

HANG_S = 20.0


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
        with turnstile.turn(CancelToken()) as go_on:
            assert go_on
            order.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(5)]
    with turnstile.turn(CancelToken()):
        for number, thread in enumerate(threads):
            thread.start()
            _wait_until_queued(turnstile, number + 1)
    for thread in threads:
        thread.join(HANG_S)
    assert order == list(range(5))


def test_a_loop_lets_others_in_between() -> None:
    turnstile = Turnstile()
    steps: list[str] = []

    def write(name: str) -> None:
        for _ in range(50):
            with turnstile.turn(CancelToken()):
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
        with turnstile.turn(token) as go_on:
            seen.append(go_on)

    thread = threading.Thread(target=use)
    with turnstile.turn(CancelToken()):
        thread.start()
        _wait_until_queued(turnstile, 1)
        token.cancel()
        thread.join(HANG_S)
        assert seen == [False]
    with turnstile.turn(CancelToken()) as go_on:
        assert go_on


def test_a_failure_inside_gives_the_turn_back() -> None:
    turnstile = Turnstile()
    with pytest.raises(LookupError), turnstile.turn(CancelToken()):
        raise LookupError
    with turnstile.turn(CancelToken()) as go_on:
        assert go_on
