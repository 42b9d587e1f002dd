"""A step that does not end is looked after, and nothing is left of the watch when it has."""

from __future__ import annotations

import queue
import threading
import time

import pytest

from s2s_actors.runtime.step_watch import StepWatch

PATIENCE_S = 5.0


class Steps:
    """What is watched: a step that a test begins and ends."""

    def __init__(self, *limits_s: float) -> None:
        self.since_s: float | None = None
        self.looked: queue.SimpleQueue[float] = queue.SimpleQueue()
        self.watch = StepWatch("watch", lambda: self.since_s, self.looked.put, limits_s)

    def begin(self) -> float:
        began_s = self.since_s = time.monotonic()
        self.watch.begin()
        return began_s


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "watch"]


def join() -> None:
    for thread in threads():
        thread.join(PATIENCE_S)
    assert threads() == []


def test_a_step_is_looked_after_once_for_each_limit_that_it_outlasts() -> None:
    steps = Steps(0.2, 0.05)
    began_s = steps.begin()
    assert steps.looked.get(timeout=PATIENCE_S) == began_s
    assert time.monotonic() - began_s > 0.05
    assert steps.looked.get(timeout=PATIENCE_S) == began_s
    assert time.monotonic() - began_s > 0.2
    steps.watch.end()
    join()


def test_a_step_that_ends_in_time_is_not_looked_after_and_ends_the_watch() -> None:
    steps = Steps(0.05)
    steps.begin()
    steps.since_s = None
    join()
    assert steps.looked.empty()


def test_the_steps_that_follow_are_watched_too() -> None:
    steps = Steps(0.1)
    steps.begin()
    second_s = steps.begin()
    assert steps.looked.get(timeout=PATIENCE_S) == second_s
    steps.watch.end()
    join()


def test_one_watch_is_enough_however_often_it_is_begun() -> None:
    steps = Steps(PATIENCE_S)
    for _ in range(100):
        steps.begin()
    assert len(threads()) == 1
    steps.watch.end()
    join()


def test_an_end_is_at_once_and_another_beginning_works() -> None:
    steps = Steps(3600.0)
    steps.begin()
    steps.watch.end()
    join()
    steps.begin()
    assert len(threads()) == 1
    steps.watch.end()
    join()


def test_without_a_thread_to_be_had_the_next_message_tries_again() -> None:
    steps = Steps(0.01)
    with pytest.MonkeyPatch.context() as patch:

        def start(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        patch.setattr(threading.Thread, "start", start)
        steps.begin()
    steps.begin()
    assert steps.looked.get(timeout=PATIENCE_S) == steps.since_s
    steps.watch.end()
    join()
