"""The turnstile is fair, guesses give way, and cancelled calls leave the queue."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.turnstile import PATIENCE, Turnstile
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from collections.abc import Iterator

HANG_S = 20.0
WANTED = Urgency()


def _wait_until_queued(turnstile: Turnstile, count: int) -> None:
    pause = threading.Event()
    for _ in range(int(HANG_S * 1000)):
        if len(turnstile._queue) == count:
            return
        pause.wait(0.001)
    raise AssertionError("nobody came")


@dataclass(frozen=True)
class Asks:
    """A call: its urgency, and how many pieces went before it."""

    urgency: Urgency = WANTED
    piece: int = 0


class Crowd:
    """Calls that queue up in this order while the turnstile is taken."""

    def __init__(self, calls: dict[str, Asks], width: int = 1) -> None:
        self.turnstile = Turnstile(width)
        self.order: list[str] = []
        self.tokens = {name: CancelToken() for name in calls}
        self._calls = calls
        self._width = width
        self._threads: dict[str, threading.Thread] = {}

    def _use(self, name: str) -> None:
        call = self._calls[name]
        with self.turnstile.turn(self.tokens[name], call.urgency, call.piece) as go_on:
            if go_on:
                self.order.append(name)

    @contextmanager
    def queued(self) -> Iterator[None]:
        """All wait inside the block; after it each has had its turn."""
        with ExitStack() as stack:
            for _ in range(self._width):
                stack.enter_context(self.turnstile.turn(CancelToken(), WANTED))
            for name in self._calls:
                thread = threading.Thread(target=self._use, args=(name,))
                thread.start()
                self._threads[name] = thread
                _wait_until_queued(self.turnstile, len(self._threads))
            yield
        for thread in self._threads.values():
            thread.join(HANG_S)

    def leaves(self, name: str) -> None:
        """A call is cancelled while it waits."""
        self.tokens[name].cancel()
        self._threads[name].join(HANG_S)


def _order_of(calls: dict[str, Asks], *, right: str | None = None) -> list[str]:
    """Who gets a turn when, if all come in this order while the turnstile is taken.

    Args:
        calls: In the order of their coming.
        right: The call whose guess proves right when all wait.
    """
    crowd = Crowd(calls)
    with crowd.queued():
        if right:
            calls[right].urgency.commit()
    return crowd.order


def _guess(piece: int = 0) -> Asks:
    return Asks(Urgency(speculative=True), piece)


def _glance() -> Asks:
    return Asks(Urgency(speculative=True, glance=True))


def test_calls_get_their_turn_in_the_order_in_which_they_came() -> None:
    names = list("abcde")
    assert _order_of({name: Asks() for name in names}) == names


def test_guesses_give_way_to_what_is_wanted() -> None:
    calls = {"guess 1": _guess(), "wanted 1": Asks(), "guess 2": _guess(), "wanted 2": Asks()}
    assert _order_of(calls) == ["wanted 1", "wanted 2", "guess 1", "guess 2"]


def test_a_guess_that_proves_right_while_it_waits_keeps_its_place() -> None:
    calls = {"guess 1": _guess(), "wanted 1": Asks(), "guess 2": _guess(), "wanted 2": Asks()}
    assert _order_of(calls, right="guess 2") == ["wanted 1", "guess 2", "wanted 2", "guess 1"]
    calls = {"guess 1": _guess(), "wanted 1": Asks()}
    assert _order_of(calls, right="guess 1") == ["guess 1", "wanted 1"]


def test_a_guess_needs_no_wait_where_a_place_is_free() -> None:
    turnstile = Turnstile(2)
    with (
        turnstile.turn(CancelToken(), WANTED),
        turnstile.turn(CancelToken(), _guess().urgency) as go_on,
    ):
        assert go_on


def test_looks_at_what_is_being_said_give_way_to_guesses() -> None:
    calls = {"look 1": _glance(), "guess": _guess(), "look 2": _glance(), "wanted": Asks()}
    assert _order_of(calls) == ["wanted", "guess", "look 1", "look 2"]


def test_who_has_heard_nothing_yet_goes_before_who_has_something_to_listen_to() -> None:
    calls = {"third": Asks(piece=2), "second": Asks(piece=1), "1st a": Asks(), "1st b": Asks()}
    assert _order_of(calls) == ["1st a", "1st b", "second", "third"]


def test_a_class_counts_more_than_a_first_piece() -> None:
    calls = {"first of a guess": _guess(), "tenth, wanted": Asks(piece=9)}
    assert _order_of(calls) == ["tenth, wanted", "first of a guess"]


def test_a_guess_that_proves_right_is_in_its_place_among_the_pieces() -> None:
    calls = {"second": Asks(piece=1), "guess": _guess(), "third": Asks(piece=2)}
    assert _order_of(calls, right="guess") == ["guess", "second", "third"]


def test_no_piece_is_overtaken_for_ever_in_its_class() -> None:
    firsts = {f"first {number}": Asks() for number in range(3 * PATIENCE)}
    order = _order_of({"third": Asks(piece=2), **firsts})
    assert order.index("third") == 2 * PATIENCE
    order = _order_of({"third of a guess": _guess(2), **firsts})
    assert order[-1] == "third of a guess"


def test_who_is_overtaken_by_another_class_comes_no_earlier_in_its_own() -> None:
    wanted = {f"wanted {number}": Asks() for number in range(2 * PATIENCE)}
    order = _order_of({"third": _guess(2), **wanted, "first": _guess()})
    assert order == [*wanted, "first", "third"]


def test_a_call_that_leaves_the_queue_holds_up_nobody() -> None:
    crowd = Crowd({"a": Asks(), "b": Asks(), "c": Asks()})
    with crowd.queued():
        crowd.leaves("a")
        crowd.leaves("b")
    assert crowd.order == ["c"]


@pytest.mark.parametrize("asks", [Asks(piece=1), _glance()])
def test_later_pieces_and_looks_leave_a_place_to_what_comes_next(asks: Asks) -> None:
    turnstile = Turnstile(2)
    order: list[str] = []

    def wait() -> None:
        with turnstile.turn(CancelToken(), asks.urgency, asks.piece):
            order.append("can wait")

    thread = threading.Thread(target=wait)
    with turnstile.turn(CancelToken(), asks.urgency, asks.piece):
        thread.start()
        _wait_until_queued(turnstile, 1)
        with turnstile.turn(CancelToken(), _guess().urgency) as go_on:
            assert go_on
        order.append("first")
    thread.join(HANG_S)
    assert order == ["first", "can wait"]


def test_where_there_is_one_place_nothing_is_kept_free() -> None:
    turnstile = Turnstile(1)
    for asks in (Asks(piece=5), _glance()):
        with turnstile.turn(CancelToken(), asks.urgency, asks.piece) as go_on:
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
