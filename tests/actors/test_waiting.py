"""A line of clients: in order, bounded, and each leaves it once."""

from __future__ import annotations

from s2s_actors.actors.messages import Claim, TimerFired
from s2s_actors.actors.waiting import WaitingLine
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.reply import ReplyPort
from tests.support.stepping import Recorder


class Nobody:
    def send(self, frame: bytes) -> None:
        raise AssertionError(frame)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(code, reason)


def claim(name: str) -> Claim:
    return Claim(name, Nobody(), ReplyPort())


class Bench:
    def __init__(self, limit: int = 3) -> None:
        self.clock = ManualClock()
        self.fired = Recorder()
        self.line = WaitingLine(limit, 10.0, self.clock)

    def join(self, *names: str) -> None:
        for name in names:
            self.line.join(claim(name), self.fired)

    def rest(self) -> list[str]:
        names = []
        while claim := self.line.next():
            names.append(claim.session_id)
        return names


def test_the_first_in_the_line_is_next() -> None:
    bench = Bench()
    bench.join("a", "b", "c")
    assert bench.line.is_full
    assert bench.rest() == ["a", "b", "c"]
    assert len(bench.line) == 0
    assert bench.clock.pending == []


def test_a_line_without_places_is_always_full() -> None:
    bench = Bench(0)
    assert bench.line.is_full
    assert bench.line.next() is None


def test_whose_time_is_up_leaves_and_the_others_keep_their_order() -> None:
    bench = Bench()
    bench.join("a")
    bench.clock.advance(5)
    bench.join("b", "c")
    bench.clock.advance(5)
    (fired,) = bench.fired.of(TimerFired)
    expired = bench.line.expire(fired.serial)
    assert expired is not None
    assert expired.session_id == "a"
    assert bench.line.expire(fired.serial) is None
    assert bench.rest() == ["b", "c"]


def test_a_timer_that_comes_too_late_finds_nobody() -> None:
    bench = Bench()
    bench.join("a")
    bench.clock.advance(10)
    assert bench.rest() == ["a"]
    bench.join("b")
    (fired,) = bench.fired.of(TimerFired)
    assert bench.line.expire(fired.serial) is None
    assert bench.rest() == ["b"]


def test_who_leaves_takes_the_timer_along() -> None:
    bench = Bench()
    bench.join("a", "b")
    bench.line.leave("a")
    bench.line.leave("a")
    bench.line.leave("nobody")
    assert len(bench.clock.pending) == 1
    assert bench.rest() == ["b"]
