"""How far the process is behind: what counts, what is forgotten, and what is too much."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.actors.load import Queue
from s2s_actors.runtime.clock import ManualClock

if TYPE_CHECKING:
    from s2s_actors.actors.health import LoadReport


class Bench:
    """A process whose lateness a test decides."""

    def __init__(self, *, max_lag_s: float | None = 0.3, max_wait_s: float | None = 2.0) -> None:
        self.clock = ManualClock()
        self.queue = Queue()
        limits = HealthLimits(max_lag_s, max_wait_s)
        self.health = Health(self.clock, limits, lambda: {"llm": self.queue})

    def hear(self, late_s: float, times: int = 100) -> None:
        for _ in range(times):
            self.health.note("hearing", late_s)

    def crowd(self, wait_s: float, wanted: int = 2) -> None:
        self.queue = Queue(wanted, longest_wait_s=wait_s)

    def read(self) -> LoadReport:
        return self.health.read()

    @property
    def hearing_s(self) -> float:
        (found,) = [each for each in self.read().sources if each.source == "hearing"]
        return found.late_s


def test_a_process_that_does_nothing_is_not_late() -> None:
    report = Bench().read()
    assert (report.figure, report.overloaded, report.over) == (0.0, False, ())


def test_what_is_late_most_of_the_time_is_told_in_words_and_as_a_share_of_its_limit() -> None:
    bench = Bench(max_lag_s=0.25)
    bench.hear(0.4)
    report = bench.read()
    assert report.over == ("hearing is 0.4 s behind",)
    assert abs(report.figure - 0.4 / 0.25) < 0.05
    assert report.overloaded


def test_one_hiccup_among_many_is_no_burden() -> None:
    bench = Bench()
    bench.hear(0.0, 100)
    bench.hear(1.0, 8)
    assert bench.hearing_s == 0.0
    bench.hear(1.0, 12)
    assert bench.hearing_s > 0.9


def test_of_few_things_a_late_one_proves_nothing() -> None:
    bench = Bench()
    bench.hear(1.0, 4)
    assert bench.hearing_s == 0.0
    bench.hear(1.0, 1)
    assert bench.hearing_s > 0.9


def test_what_nobody_notes_any_more_is_forgotten_without_a_timer() -> None:
    bench = Bench()
    bench.hear(1.0)
    bench.clock.advance(1.9)
    assert bench.hearing_s > 0.9
    assert bench.clock.pending == []
    bench.clock.advance(2.2)
    assert bench.hearing_s == 0.0


def test_what_is_in_time_again_makes_up_for_what_was_late_within_seconds() -> None:
    bench = Bench()
    bench.hear(1.0)
    for _ in range(2):
        bench.clock.advance(2)
        bench.hear(0.0)
    assert bench.hearing_s == 0.0


def test_what_was_late_a_moment_ago_still_counts_when_a_new_window_begins() -> None:
    bench = Bench()
    bench.hear(1.0)
    bench.clock.advance(2)
    bench.hear(0.0, 10)
    assert bench.hearing_s > 0.9


def test_a_long_pause_leaves_nothing_of_what_was_before() -> None:
    bench = Bench()
    bench.hear(1.0)
    bench.clock.advance(60)
    bench.hear(0.0, 10)
    assert bench.hearing_s == 0.0


def test_work_that_waits_for_its_model_too_long_is_overload() -> None:
    bench = Bench(max_wait_s=2.0)
    bench.crowd(3.0)
    assert bench.read().over == ("work has waited 3.0 s for the language model",)
    bench.crowd(0.0)
    assert not bench.read().overloaded


def test_a_model_that_is_slow_with_one_piece_of_work_is_slow_but_not_crowded() -> None:
    bench = Bench(max_wait_s=2.0)
    bench.crowd(9.0, wanted=1)
    report = bench.read()
    assert (report.figure, report.overloaded) == (0.0, False)
    assert [each.late_s for each in report.sources if each.source == "llm"] == [9.0]


def test_overload_ends_only_well_below_the_limit() -> None:
    bench = Bench(max_wait_s=2.0)
    seen = []
    for waits_s in (1.9, 2.0, 1.9, 1.1, 0.9, 1.9):
        bench.crowd(waits_s)
        seen.append(bench.read().overloaded)
    assert seen == [False, True, True, True, False, False]


def test_without_limits_nothing_is_too_late() -> None:
    bench = Bench(max_lag_s=None, max_wait_s=None)
    bench.hear(4.0)
    bench.crowd(60.0)
    report = bench.read()
    assert (report.figure, report.overloaded, report.over) == (0.0, False, ())
    assert bench.hearing_s > 3.9, "it is shown all the same"


def test_absurd_times_do_no_harm() -> None:
    bench = Bench()
    bench.hear(-1.0)
    assert bench.hearing_s == 0.0
    bench.hear(1e6)
    assert 4.9 < bench.hearing_s < 5.1


def test_many_threads_may_note_at_once() -> None:
    bench = Bench()
    threads = [threading.Thread(target=bench.hear, args=(0.5, 2000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert abs(bench.hearing_s - 0.5) < 0.02
