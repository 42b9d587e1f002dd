"""How busy the models are: guesses are made only where they hold up nobody."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack

import pytest

from s2s_actors.actors.load import Load, Queue
from s2s_actors.runtime.urgency import Urgency


def busy(load: Load, *, wanted: int = 0, guesses: int = 0) -> ExitStack:
    """So much work that runs until the stack is closed."""
    stack = ExitStack()
    for speculative in [False] * wanted + [True] * guesses:
        stack.enter_context(load.working(Urgency(speculative=speculative)))
    return stack


@pytest.mark.parametrize(
    ("cores", "wanted", "guesses", "expected"),
    [
        (1, 0, 0, True),
        (1, 1, 0, False),
        (1, 0, 1, True),
        (1, 0, 2, False),
        (2, 1, 3, True),
        (2, 2, 0, False),
        (2, 0, 4, False),
        (8, 7, 15, True),
        (8, 8, 0, False),
        (8, 0, 16, False),
    ],
)
def test_there_is_time_for_guesses_while_few_wait_and_few_guess(
    cores: int, wanted: int, guesses: int, expected: bool
) -> None:
    load = Load(cores)
    with busy(load, wanted=wanted, guesses=guesses):
        assert load.may_guess is expected
    assert load.may_guess


def test_who_is_answered_already_and_who_only_looks_leave_time_for_guesses() -> None:
    load = Load(1)
    with load.working(Urgency()) as piece:
        piece.is_answered = True
        with ExitStack() as looks:
            for _ in range(5):
                looks.enter_context(load.working(Urgency(glance=True)))
            assert load.may_guess


def fail(load: Load, seen: list[bool]) -> None:
    with load.working(Urgency(speculative=False)):
        seen.append(load.may_guess)
        raise ValueError("a bug")


def test_work_that_fails_is_over_as_well() -> None:
    load, seen = Load(1), list[bool]()
    with pytest.raises(ValueError, match="a bug"):
        fail(load, seen)
    assert [*seen, load.may_guess] == [False, True]


def test_without_a_number_the_cores_of_this_process_count() -> None:
    load = Load()
    with load.working(Urgency(speculative=True)), load.working(Urgency(speculative=False)):
        pass
    assert load.may_guess


def test_no_piece_of_work_is_lost_between_threads() -> None:
    load = Load(1)

    def work(*, speculative: bool) -> None:
        for _ in range(2000):
            with load.working(Urgency(speculative=speculative)):
                pass

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=work, kwargs={"speculative": bool(number % 2)})
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    seen = [load.may_guess]
    # And none is counted below zero, which would let one too many in.
    for wanted, guesses in ((1, 0), (0, 2)):
        with busy(load, wanted=wanted, guesses=guesses):
            seen.append(load.may_guess)
    assert seen == [True, False, False]


def test_a_guess_that_proves_right_while_it_runs_counts_as_wanted() -> None:
    load, guess = Load(cores=1), Urgency(speculative=True)
    with load.working(guess):
        before = load.may_guess
        guess.commit()
        after = load.may_guess
    assert (before, after, load.may_guess) == (True, False, True)


# --- who waits for the models ------------------------------------------------------------------


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_without_work_there_are_no_queues() -> None:
    load = Load(2)
    assert load.queues() == {}


def test_each_kind_of_model_has_a_queue_of_its_own_and_the_oldest_wanted_piece_tells() -> None:
    hands, guess = Hands(), Urgency(speculative=True)
    load = Load(2, hands)
    with load.working(guess, "stt"):
        hands.now_s += 4
        with load.working(Urgency(), "stt"), load.working(Urgency(), "tts"):
            hands.now_s += 1
            with load.working(Urgency(), "stt"):
                hands.now_s += 0.5
                assert load.queues() == {"stt": Queue(2, 1, 1.5), "tts": Queue(1, 0, 1.5)}
        assert load.queues() == {"stt": Queue(0, 1, 0.0)}
        guess.commit()
        assert load.queues() == {"stt": Queue(1, 0, 5.5)}
    assert load.queues() == {}


def test_who_has_something_of_the_answer_does_not_wait_any_more() -> None:
    hands = Hands()
    load = Load(2, hands)
    with load.working(Urgency(), "llm") as piece:
        hands.now_s += 2
        piece.is_answered = True
        assert load.queues() == {"llm": Queue(1, 0, 0.0)}
