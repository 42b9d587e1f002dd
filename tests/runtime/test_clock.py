"""Timers come in order, once, and not at all when cancelled."""

from __future__ import annotations

import threading
import time

from s2s_actors.runtime.clock import Clock, ManualClock, SystemClock
from tests.support.stepping import Recorder

PATIENCE_S = 5.0


class Inbox:
    """An outlet that a test can wait on."""

    def __init__(self, expected: int) -> None:
        self.messages: list[object] = []
        self.complete = threading.Event()
        self._expected = expected

    def put(self, message: object) -> None:
        self.messages.append(message)
        if len(self.messages) == self._expected:
            self.complete.set()


class Broken:
    def put(self, message: object) -> None:
        raise RuntimeError(f"can't take {message}")


def test_manual_timers_come_in_the_order_of_their_due_times() -> None:
    clock, outlet = ManualClock(), Recorder()
    for delay_s, message in [(3, "c"), (1, "a"), (3, "d"), (2, "b"), (9, "e")]:
        clock.tell_later(delay_s, outlet, message)
    clock.advance(3)
    assert outlet.messages == ["a", "b", "c", "d"]
    assert clock.pending == ["e"]


def test_manual_time_stands_at_the_due_time_while_a_timer_is_delivered() -> None:
    class Chain:
        def __init__(self, clock: Clock) -> None:
            self.clock = clock
            self.times_s: list[float] = []

        def put(self, message: object) -> None:
            self.times_s.append(self.clock.monotonic_s())
            self.clock.tell_later(2, self, message)

    clock = ManualClock(wall_s=1000)
    chain = Chain(clock)
    clock.tell_later(2, chain, "again")
    clock.advance(7)
    assert chain.times_s == [2, 4, 6]
    assert (clock.monotonic_s(), clock.wall_s()) == (7, 1007)


def test_a_cancelled_manual_timer_never_comes_and_cancelling_is_idempotent() -> None:
    clock, outlet = ManualClock(), Recorder()
    timer = clock.tell_later(1, outlet, "no")
    clock.tell_later(1, outlet, "yes")
    timer.cancel()
    timer.cancel()
    clock.advance(2)
    timer.cancel()
    assert outlet.messages == ["yes"]


def test_system_timers_come_in_order_even_when_an_earlier_one_is_set_later() -> None:
    clock, inbox = SystemClock(), Inbox(3)
    try:
        with clock._changed:  # all are set before the first can come, however busy the machine
            clock.tell_later(0.8, inbox, "c")
            clock.tell_later(0.4, inbox, "b")
            clock.tell_later(0, inbox, "a")
        assert inbox.complete.wait(PATIENCE_S)
    finally:
        clock.close()
    assert inbox.messages == ["a", "b", "c"]


def test_a_system_timer_is_never_early() -> None:
    clock, inbox = SystemClock(), Inbox(1)
    begun_s = clock.monotonic_s()
    try:
        clock.tell_later(0.05, inbox, "x")
        assert inbox.complete.wait(PATIENCE_S)
        assert clock.monotonic_s() - begun_s >= 0.05
    finally:
        clock.close()


def test_a_cancelled_system_timer_never_comes() -> None:
    clock, inbox = SystemClock(), Inbox(1)
    try:
        clock.tell_later(0.5, inbox, "no").cancel()
        clock.tell_later(0.6, inbox, "yes")
        assert inbox.complete.wait(PATIENCE_S)
    finally:
        clock.close()
    assert inbox.messages == ["yes"]


def test_a_broken_receiver_does_not_stop_the_clock() -> None:
    clock, inbox = SystemClock(), Inbox(1)
    try:
        clock.tell_later(0, Broken(), "x")
        clock.tell_later(0.01, inbox, "y")
        assert inbox.complete.wait(PATIENCE_S)
    finally:
        clock.close()


def test_a_closed_clock_has_no_thread_and_takes_no_timers() -> None:
    clock, outlet = SystemClock(), Recorder()
    clock.tell_later(60, outlet, "far")
    clock.close()
    clock.close()
    clock.tell_later(0, outlet, "late").cancel()
    assert not [thread for thread in threading.enumerate() if thread.name == "clock"]
    assert outlet.messages == []


class Waits:
    """Records how long the clock's thread means to sleep, each time that it goes to sleep."""

    def __init__(self, clock: SystemClock) -> None:
        self.timeouts_s: list[float | None] = []
        self._slept = threading.Condition()
        self._wait = clock._changed.wait
        clock._changed.wait = self  # type: ignore[method-assign]

    def __call__(self, timeout: float | None = None) -> bool:
        with self._slept:
            self.timeouts_s.append(timeout)
            self._slept.notify_all()
        return self._wait(timeout)

    def until(self, count: int) -> None:
        with self._slept:
            assert self._slept.wait_for(lambda: len(self.timeouts_s) >= count, PATIENCE_S)


def test_a_nearer_timer_shortens_the_sleep_for_a_farther_one() -> None:
    clock, inbox = SystemClock(), Inbox(1)
    waits = Waits(clock)
    try:
        clock.tell_later(60, Recorder(), "far")
        waits.until(1)
        clock.tell_later(0, inbox, "near")
        assert inbox.complete.wait(PATIENCE_S)
    finally:
        clock.close()


def test_a_clock_without_timers_sleeps_until_there_is_one() -> None:
    clock, inbox = SystemClock(), Inbox(1)
    waits = Waits(clock)
    try:
        timer = clock.tell_later(60, Recorder(), "cancelled")
        waits.until(1)
        timer.cancel()
        waits.until(2)
        assert waits.timeouts_s[1] is None
        clock.tell_later(0, inbox, "due")
        assert inbox.complete.wait(PATIENCE_S)
        waits.until(3)
        assert waits.timeouts_s[2] is None
    finally:
        clock.close()


def test_wall_time_is_unix_time() -> None:
    assert abs(SystemClock().wall_s() - time.time()) < 60
