"""While the machine is behind new sessions wait or are refused; then they come in one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from s2s_actors.actors import messages as m
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import Refused
from s2s_actors.runtime.reply import ReplyPort
from tests.support.stepped_plant import SteppedPlant
from tests.support.stepping import Recorder

if TYPE_CHECKING:
    from tests.support.stepped_plant import Client


def opened(units: int = 4, *, queue_limit: int = 0, queue_timeout_s: float = 60.0) -> SteppedPlant:
    return SteppedPlant(PoolRules(units, queue_limit, queue_timeout_s))


def burden(plant: SteppedPlant, late_s: float = 2.0) -> None:
    """Let the sound of the last moment have been so late."""
    for _ in range(100):
        plant.plant.around.health.note("hearing", late_s)


def ask(plant: SteppedPlant, name: str, news: Recorder | None = None) -> Client:
    """Claim a unit; whatever comes of it has come."""
    client = plant.client(name)
    plant.pool.outlet.put(m.Claim(client.session_id, client, client.reply, news=news))
    plant.run()
    return client


def refusal(client: Client) -> Refused:
    assert isinstance(client.answer, Refused), client.answer
    return client.answer


def served(*clients: Client) -> list[bool]:
    return [client.granted is not None for client in clients]


def timers(plant: SteppedPlant, name: str) -> int:
    pending = plant.clock.pending
    return sum(isinstance(each, m.TimerFired) and each.name == name for each in pending)


def test_behind_its_time_the_server_refuses_though_units_are_idle() -> None:
    with opened() as plant:
        first = plant.visit("a")
        burden(plant)
        refused = refusal(ask(plant, "b"))
        assert (refused.code, refused.close_code) == ("server_is_overloaded", 1013)
        assert refused.retry_after_s is not None
        assert refused.retry_after_s >= 4, "sooner the load can't have gone"
        assert first.closed is None
        pool = plant.board.pool()
        assert (pool.refused_total, pool.refused_for_load_total) == (1, 1)


def test_who_is_refused_for_want_of_a_unit_is_not_counted_as_refused_for_load() -> None:
    with opened(1) as plant:
        plant.visit("a")
        burden(plant)
        assert refusal(ask(plant, "b")).code == "session_limit_reached"
        pool = plant.board.pool()
        assert (pool.refused_total, pool.refused_for_load_total) == (1, 0)


def test_a_server_without_sessions_refuses_nobody_for_load() -> None:
    with opened() as plant:
        burden(plant)
        plant.visit("a")


def test_a_unit_under_repair_is_no_session() -> None:
    with opened(2) as plant:
        plant.visit("a")
        plant.threads_left = 0
        plant.crash("unit-0")
        plant.run()
        burden(plant)
        assert ask(plant, "b").granted is not None


def test_a_server_that_keeps_up_takes_a_burst_at_once() -> None:
    with opened(8) as plant:
        burden(plant, 0.05)
        assert served(*(ask(plant, name) for name in "abcdefgh")) == [True] * 8


def test_near_its_limit_the_server_lets_them_in_one_by_one() -> None:
    with opened(8, queue_limit=4) as plant:
        plant.visit("a")
        burden(plant, 0.15)
        near = [ask(plant, name) for name in "bcd"]
        assert served(*near) == [True, False, False]
        plant.advance(1)
        assert served(*near) == [True, True, False]
        plant.advance(1)
        assert served(*near) == [True, True, True]


def test_where_there_is_a_line_who_comes_into_an_overload_waits_in_it() -> None:
    with opened(queue_limit=4) as plant:
        plant.visit("a")
        burden(plant)
        waiting = ask(plant, "b")
        assert waiting.answer is None
        pool = plant.board.pool()
        assert (pool.queue_length, pool.waited_total, pool.refused_total) == (1, 1, 0)


def test_once_the_load_has_fallen_they_come_in_one_by_one() -> None:
    with opened(queue_limit=4) as plant:
        plant.visit("a")
        burden(plant)
        waiting = [ask(plant, name) for name in "bcd"]
        plant.advance(3.5)
        assert served(*waiting) == [False, False, False]
        plant.advance(1)
        assert served(*waiting) == [True, False, False]
        plant.advance(1)
        assert served(*waiting) == [True, True, False]
        plant.advance(1)
        assert served(*waiting) == [True, True, True]


def test_load_that_comes_with_the_first_of_them_keeps_the_others_waiting() -> None:
    with opened(queue_limit=4) as plant:
        plant.visit("a")
        burden(plant)
        waiting = [ask(plant, name) for name in "bc"]
        plant.advance(4.5)
        assert served(*waiting) == [True, False]
        burden(plant)
        plant.advance(3)
        assert served(*waiting) == [True, False]
        plant.advance(2)
        assert served(*waiting) == [True, True]


def test_after_an_overload_newcomers_are_spaced_too() -> None:
    with opened() as plant:
        plant.visit("a")
        burden(plant)
        refusal(ask(plant, "b"))
        plant.advance(5)
        assert ask(plant, "c").granted is not None
        assert refusal(ask(plant, "d")).code == "server_is_overloaded"
        plant.advance(1)
        assert ask(plant, "e").granted is not None


def test_an_overload_long_past_spaces_nobody() -> None:
    with opened(5) as plant:
        plant.visit("a")
        burden(plant)
        refusal(ask(plant, "b"))
        plant.advance(20)
        assert served(*(ask(plant, name) for name in "cdef")) == [True] * 4


def test_nobody_overtakes_those_who_wait_for_the_load_to_fall() -> None:
    with opened(2, queue_limit=4) as plant:
        first = plant.visit("a")
        burden(plant)
        waiting = ask(plant, "b")
        plant.wedged.add("pool")
        late = plant.client("c").claim()
        plant.clock.advance(10)  # the load has fallen, but the claim comes before the next look
        plant.wedged.clear()
        plant.run()
        assert waiting.granted is not None
        assert late.answer is None
        first.leave()
        plant.run()
        plant.advance(1)
        assert late.granted is not None


def test_a_line_for_want_of_units_needs_no_timer_but_that_of_its_patience() -> None:
    with opened(1, queue_limit=2) as plant:
        plant.visit("a")
        burden(plant)
        ask(plant, "b")
        assert timers(plant, "look") == 0


def test_the_load_is_looked_at_only_while_someone_waits() -> None:
    with opened(queue_limit=2) as plant:
        plant.visit("a")
        burden(plant)
        assert timers(plant, "look") == 0
        waiting = ask(plant, "b")
        assert timers(plant, "look") == 1
        plant.advance(0.6)
        assert timers(plant, "look") == 1
        waiting.leave()
        plant.run()
        assert timers(plant, "look") == 0


def test_the_last_session_that_leaves_lets_the_next_one_in_whatever_the_load() -> None:
    with opened(2, queue_limit=2) as plant:
        first = plant.visit("a")
        burden(plant)
        waiting = ask(plant, "b")
        assert waiting.answer is None
        first.leave()
        plant.run()
        assert waiting.granted is not None


def test_whose_patience_ends_in_an_overload_learns_that_it_was_the_load() -> None:
    with opened(2, queue_limit=2, queue_timeout_s=3) as plant:
        plant.visit("a")
        burden(plant)
        waiting = ask(plant, "b")
        plant.advance(3)
        assert refusal(waiting).code == "server_is_overloaded"
        assert plant.board.pool().refused_for_load_total == 1


def test_a_shutdown_sends_away_who_waits_for_the_load_to_fall() -> None:
    with opened(2, queue_limit=2) as plant:
        first = plant.visit("a")
        burden(plant)
        waiting = ask(plant, "b")
        first.leave()
        plant.wedged.add("unit-0")
        plant.pool.outlet.put(m.Shutdown(ReplyPort()))
        plant.run()
        assert refusal(waiting).close_code == 1001
        assert timers(plant, "look") == 0


# --- what those who wait are told ---------------------------------------------------------


def test_who_wants_to_know_is_told_each_place_once() -> None:
    with opened(1, queue_limit=4) as plant:
        first = plant.visit("a")
        heard = [Recorder() for _ in range(3)]
        waiting = [ask(plant, name, news) for name, news in zip("bcd", heard, strict=True)]
        assert [news.take() for news in heard] == [[m.QueueMoved(n, None)] for n in (1, 2, 3)]
        plant.advance(1)
        assert [news.take() for news in heard] == [[], [], []], "nobody has moved"
        waiting[1].leave()
        plant.run()
        assert [news.take() for news in heard] == [[], [], [m.QueueMoved(2, None)]]
        plant.advance(9)
        first.leave()
        plant.run()
        assert waiting[0].granted is not None
        assert [news.take() for news in heard] == [[], [], [m.QueueMoved(1, 10.0)]]


def test_who_does_not_wait_is_told_nothing() -> None:
    with opened(1, queue_limit=4) as plant:
        news = Recorder()
        assert ask(plant, "a", news).granted is not None
        assert news.messages == []


def test_the_estimate_is_the_usual_length_of_a_session_shared_by_the_units() -> None:
    with opened(2, queue_limit=4) as plant:
        for length_s in (20.0, 20.0, 400.0):
            client = plant.visit("short")
            plant.advance(length_s)
            client.leave()
            plant.run()
        plant.visit("a")
        plant.visit("b")
        news = Recorder()
        ask(plant, "c", news)
        ask(plant, "d", news)
        assert news.messages == [m.QueueMoved(1, 10.0), m.QueueMoved(2, 20.0)]
        assert plant.board.pool().estimated_wait_s == 30.0


def test_a_refusal_hints_at_when_a_unit_should_come_free() -> None:
    with opened(1, queue_limit=1) as plant:
        client = plant.visit("a")
        plant.advance(7.5)
        client.leave()
        plant.run()
        plant.visit("b")
        ask(plant, "c")
        refused = refusal(ask(plant, "d"))
        assert refused.retry_after_s == 15.0
        assert "Waiting before you: 1." in refused.message


def test_the_hint_stays_within_what_a_client_can_use() -> None:
    for length_s, hint_s in ((0.0, 1.0), (3000.0, 60.0)):
        with opened(1) as plant:
            client = plant.visit("a")
            plant.advance(length_s)
            client.leave()
            plant.run()
            plant.visit("b")
            assert refusal(ask(plant, "c")).retry_after_s == hint_s


def test_the_board_tells_since_when_the_first_of_the_line_has_waited() -> None:
    with opened(1, queue_limit=4) as plant:
        plant.visit("a")
        assert plant.board.pool().waiting_since is None
        since = plant.clock.wall_s()
        first = ask(plant, "b")
        plant.advance(5)
        ask(plant, "c")
        assert plant.board.pool().waiting_since == since
        first.leave()
        plant.run()
        assert plant.board.pool().waiting_since == since + 5


# --- any order ----------------------------------------------------------------------------

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["claim", "leave", "burden", "crash", "wait", "step"]), st.integers(0, 9)
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(moves=MOVES, units=st.integers(1, 3), queue_limit=st.integers(0, 3))
def test_under_any_load_every_claim_is_answered_once_and_no_timer_outlives_the_line(
    moves: list[tuple[str, int]], units: int, queue_limit: int
) -> None:
    with opened(units, queue_limit=queue_limit, queue_timeout_s=10) as plant:
        clients: list[Client] = []
        for move, number in moves:
            _play(plant, clients, move, number)
            assert plant.capacity == units
        plant.run()
        plant.advance(10)
        assert all(c.answer is not None or c.reply.future.cancelled() for c in clients)
        assert timers(plant, "look") == 0
        for client in clients:
            client.leave()
        plant.run()
        assert plant.clock.pending == []
        plant.advance(20)
        assert all(plant.visit(f"last-{n}").granted for n in range(units))


def _play(plant: SteppedPlant, clients: list[Client], move: str, number: int) -> None:
    match move:
        case "claim":
            clients.append(plant.client(str(len(clients))).claim())
        case "leave" if clients:
            clients[number % len(clients)].leave()
        case "burden":
            burden(plant, number / 4)
        case "crash":
            plant.crash(f"unit-{number % len(plant.board.units())}")
        case "wait":
            plant.clock.advance(number / 3)
        case "step":
            plant.run_some([number] * number)
