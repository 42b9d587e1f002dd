"""Who gets which unit, who waits, who is sent away, and how the server goes down."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import pykka
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s_actors.actors import messages as m
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import Refused, SessionWish
from s2s_actors.runtime.reply import ReplyPort
from tests.support.stepped_plant import STAGES, Poison, SteppedPlant

if TYPE_CHECKING:
    from tests.support.stepped_plant import Client

ACTORS_OF_A_UNIT = 1 + len(STAGES)


def opened(
    units: int = 1,
    *,
    queue_limit: int = 0,
    queue_timeout_s: float = 10.0,
    shutdown_timeout_s: float = 30.0,
    close_timeout_s: float = 10.0,
) -> SteppedPlant:
    """A plant that serves; for use in a ``with`` statement."""
    rules = PoolRules(units, queue_limit, queue_timeout_s, shutdown_timeout_s, close_timeout_s)
    return SteppedPlant(rules)


def refusal(client: Client) -> Refused:
    assert isinstance(client.answer, Refused), client.answer
    return client.answer


def unit_of(client: Client) -> int:
    assert client.granted is not None, client.answer
    return client.granted.lease.unit


def shut_down(plant: SteppedPlant, *, force: bool = False) -> ReplyPort[None]:
    reply: ReplyPort[None] = ReplyPort()
    plant.pool.outlet.put(m.Shutdown(reply, force=force))
    plant.run()
    return reply


# --- claims ------------------------------------------------------------------------------------


def test_the_unit_that_has_been_idle_longest_is_next() -> None:
    with opened(3) as plant:
        a, b, c = (plant.visit(name) for name in "abc")
        assert [unit_of(client) for client in (a, b, c)] == [0, 1, 2]
        for client in (b, c, a):
            client.leave()
            plant.run()
        assert [unit_of(plant.visit(name)) for name in "def"] == [1, 2, 0]


def test_a_full_pool_refuses_at_once_and_no_unit_is_touched() -> None:
    with opened(2) as plant:
        plant.visit("a")
        plant.visit("b")
        before = plant.board.units()
        refused = refusal(_claim(plant, "c"))
        assert (refused.code, refused.close_code) == ("session_limit_reached", 1013)
        assert refused.retry_after_s is not None
        assert plant.board.units() == before
        assert plant.board.pool().refused_total == 1
        assert plant.board.usage().sessions == 2


def test_many_claims_at_once_get_no_more_units_than_there_are() -> None:
    with opened(2) as plant:
        clients = [plant.client(str(number)).claim() for number in range(20)]
        plant.run()
        assert [client.granted is not None for client in clients] == [True] * 2 + [False] * 18


def test_while_the_models_load_claims_are_refused() -> None:
    with SteppedPlant(serving=False) as plant:
        refused = refusal(_claim(plant, "a"))
        assert (refused.code, refused.close_code) == ("server_starting", 1013)
        plant.open_doors()
        plant.visit("b")


def test_a_session_gets_the_model_name_that_its_client_asked_for() -> None:
    with opened() as plant:
        client = plant.client("a")
        plant.pool.outlet.put(
            m.Claim(client.session_id, client, client.reply, SessionWish("gpt-x"))
        )
        plant.run()
        assert client.events[0]["session"]["model"] == "gpt-x"


def test_a_unit_that_drains_is_not_claimed() -> None:
    with opened() as plant:
        client = plant.visit("a")
        plant.wedged.add("tts-0")
        client.leave()
        plant.run()
        assert refusal(_claim(plant, "b")).code == "session_limit_reached"
        plant.wedged.clear()
        plant.run()
        plant.visit("c")


def test_a_report_of_an_earlier_session_frees_no_unit() -> None:
    with opened() as plant:
        first = plant.visit("a")
        assert first.granted is not None
        first.leave()
        plant.run()
        second = plant.visit("b")
        plant.pool.outlet.put(m.UnitIdle(0, first.granted.lease))
        plant.run()
        assert refusal(_claim(plant, "c")).code == "session_limit_reached"
        assert second.closed is None


def _claim(plant: SteppedPlant, name: str) -> Client:
    client = plant.client(name).claim()
    plant.run()
    return client


# --- the queue ---------------------------------------------------------------------------------


def test_who_came_first_is_served_first() -> None:
    with opened(1, queue_limit=3) as plant:
        first = plant.visit("a")
        waiting = [_claim(plant, name) for name in "bcd"]
        assert [client.answer for client in waiting] == [None] * 3
        assert plant.board.pool().queue_length == 3
        leaving = first
        for client in waiting:
            leaving.leave()
            plant.run()
            assert client.granted is not None
            leaving = client
        assert plant.board.pool().queue_length == 0
        assert plant.board.pool().refused_total == 0


def test_a_full_queue_refuses() -> None:
    with opened(1, queue_limit=1) as plant:
        plant.visit("a")
        _claim(plant, "b")
        assert refusal(_claim(plant, "c")).code == "session_limit_reached"


def test_nobody_waits_longer_than_the_queue_allows() -> None:
    with opened(1, queue_limit=2, queue_timeout_s=10) as plant:
        plant.visit("a")
        early = _claim(plant, "b")
        plant.advance(6)
        late = _claim(plant, "c")
        plant.advance(4)
        assert refusal(early).close_code == 1013
        assert late.answer is None
        plant.advance(6)
        assert refusal(late).close_code == 1013
        assert plant.board.pool().queue_length == 0


def test_who_was_served_in_time_is_not_refused_later() -> None:
    with opened(1, queue_limit=1, queue_timeout_s=10) as plant:
        first = plant.visit("a")
        second = _claim(plant, "b")
        first.leave()
        plant.run()
        plant.advance(11)
        assert second.granted is not None
        assert plant.board.pool().refused_total == 0


def test_a_timer_that_comes_with_the_grant_refuses_nobody() -> None:
    with opened(1, queue_limit=2, queue_timeout_s=10) as plant:
        first = plant.visit("a")
        second, third = _claim(plant, "b"), _claim(plant, "c")
        plant.wedged.add("pool")
        first.leave()
        plant.run()
        plant.clock.advance(10)  # behind the news of the idle unit
        plant.wedged.clear()
        plant.run()
        assert second.granted is not None
        assert refusal(third).code == "session_limit_reached"


def test_who_leaves_the_queue_is_forgotten() -> None:
    with opened(1, queue_limit=1) as plant:
        first = plant.visit("a")
        second = _claim(plant, "b")
        second.leave()
        plant.run()
        assert plant.board.pool().queue_length == 0
        third = _claim(plant, "c")
        first.leave()
        plant.run()
        assert second.answer is None
        assert third.granted is not None
        # What is left is the clock of the one session that runs.
        names = {message.name for message in plant.clock.pending if _is_timer(message)}
        assert names == {"claim", "session"}


def test_who_leaves_without_a_word_costs_the_next_one_nothing() -> None:
    with opened(1, queue_limit=2) as plant:
        first = plant.visit("a")
        second, third = _claim(plant, "b"), _claim(plant, "c")
        second.reply.withdraw()
        first.leave()
        plant.run()
        assert third.granted is not None
        assert plant.capacity == 1


def test_to_cancel_a_claim_that_is_unknown_changes_nothing() -> None:
    with opened(1, queue_limit=1) as plant:
        first = plant.visit("a")
        second = _claim(plant, "b")
        for session_id in ("nobody", first.session_id):
            plant.pool.outlet.put(m.CancelClaim(session_id))
        plant.run()
        assert first.closed is None
        assert plant.board.pool().queue_length == 1
        first.leave()
        plant.run()
        assert second.granted is not None


def _is_timer(message: object) -> TypeGuard[m.TimerFired]:
    return isinstance(message, m.TimerFired)


# --- units that crash ----------------------------------------------------------------------------


def test_a_unit_that_crashes_is_built_anew_and_its_client_is_told() -> None:
    with opened(2) as plant:
        client, other = plant.visit("a"), plant.visit("b")
        plant.crash("unit-0")
        plant.run()
        assert client.closed == 1011
        assert other.closed is None
        assert [plant.state(unit) for unit in (0, 1)] == ["idle", "claimed"]
        assert plant.capacity == 2
        assert len(plant.live) == 1 + 2 * ACTORS_OF_A_UNIT
        assert unit_of(plant.visit("c")) == 0


def test_a_claim_that_went_to_a_dead_unit_is_answered() -> None:
    with opened() as plant:
        client = plant.client("a").claim()
        plant.step(plant.pool)  # granted, but the unit dies before it knows
        plant.crash("unit-0")
        plant.run()
        refused = refusal(client)
        assert refused.close_code == 1011
        assert plant.capacity == 1
        plant.visit("b")


def test_a_claim_that_comes_between_crash_and_report_is_answered() -> None:
    with opened() as plant:
        client = plant.client("a").claim()
        plant.crash("unit-0")  # the claim is ahead of the report in the pool's mailbox
        plant.run()
        assert client.answer is not None
        assert plant.capacity == 1
        plant.visit("b")


def test_what_a_dead_unit_still_says_changes_nothing() -> None:
    with opened() as plant:
        first = plant.visit("a")
        grant = first.granted
        assert grant is not None
        dead = plant.actor("unit-0")
        plant.crash("unit-0")
        plant.run()
        second = plant.visit("b")
        grant.unit.put(m.EndSession(grant.lease, "gone"))
        plant.pool.outlet.put(m.UnitIdle(0, grant.lease))
        dead._crash(RuntimeError("once more"))
        first.leave()
        plant.run()
        assert plant.state() == "claimed"
        second.ask()
        plant.run()
        assert second.status == "completed"
        assert second.foreign_words() == []


def test_a_crash_gives_the_unit_to_who_waits() -> None:
    with opened(1, queue_limit=1) as plant:
        plant.visit("a")
        waiting = _claim(plant, "b")
        plant.crash("unit-0")
        plant.run()
        assert waiting.granted is not None
        waiting.ask()
        plant.run()
        assert waiting.status == "completed"


def test_without_a_thread_to_be_had_the_pool_lives_and_builds_the_unit_later() -> None:
    with opened(2) as plant:
        client = plant.visit("a")
        other = plant.visit("b")
        plant.threads_left = 0
        plant.crash("unit-0")
        plant.run()
        assert client.closed == 1011
        assert not plant.pool.actor_stopped.is_set()
        other.ask()
        plant.run()
        assert other.status == "completed"
        assert refusal(_claim(plant, "c")).code == "session_limit_reached"
        plant.threads_left = 1000
        plant.advance(1)
        assert plant.state(0) == "idle"
        assert plant.capacity == 2
        assert unit_of(plant.visit("d")) == 0


def test_a_unit_that_cannot_start_does_not_keep_the_pool_busy() -> None:
    with opened() as plant:
        plant.threads_left = 3  # the unit and two of its stages
        plant.crash("unit-0")
        plant.run()  # would never come to rest
        assert [actor.name for actor in plant.live] == ["pool"]
        assert refusal(_claim(plant, "a")).code == "session_limit_reached"
        plant.threads_left = 1000
        plant.advance(1)
        assert len(plant.live) == 1 + ACTORS_OF_A_UNIT
        plant.visit("b")


# --- the way down --------------------------------------------------------------------------------


def test_an_empty_server_stops_at_once() -> None:
    with opened() as plant:
        reply = shut_down(plant)
        assert reply.future.done()
        assert plant.board.pool().server_state == "stopped"
        assert plant.clock.pending == []
        assert refusal(_claim(plant, "a")).close_code == 1001


def test_a_server_that_is_still_starting_stops_too() -> None:
    with SteppedPlant(serving=False) as plant:
        assert shut_down(plant).future.done()
        plant.open_doors()
        assert plant.board.pool().server_state == "stopped"


def test_running_sessions_may_finish_and_then_the_server_has_stopped() -> None:
    with opened(2) as plant:
        client = plant.visit("a")
        reply = shut_down(plant)
        assert plant.board.pool().server_state == "draining"
        assert refusal(_claim(plant, "b")).code == "server_shutting_down"
        client.ask()
        plant.run()
        assert client.status == "completed"
        assert not reply.future.done()
        client.leave()
        plant.run()
        assert reply.future.done()
        assert plant.clock.pending == []


def test_who_waits_is_sent_away_when_the_server_goes_down() -> None:
    with opened(1, queue_limit=2) as plant:
        first = plant.visit("a")
        waiting = [_claim(plant, name) for name in "bc"]
        shut_down(plant)
        assert [refusal(client).close_code for client in waiting] == [1001, 1001]
        first.leave()
        plant.run()
        assert plant.board.pool().server_state == "stopped"


def test_sessions_that_take_too_long_are_ended() -> None:
    with opened(1, shutdown_timeout_s=30) as plant:
        client = plant.visit("a")
        client.ask()
        plant.run()
        reply = shut_down(plant)
        plant.advance(29)
        assert client.farewells == []
        plant.advance(1)
        assert client.closed == 1001
        assert client.events[-1]["error"]["code"] == "server_shutting_down"
        assert reply.future.done()


def test_a_session_that_does_not_even_drain_does_not_hold_the_server_up() -> None:
    with opened(1, shutdown_timeout_s=30, close_timeout_s=3) as plant:
        plant.visit("a")
        reply = shut_down(plant)
        plant.wedged.add("unit-0")
        plant.advance(30)
        assert plant.board.pool().server_state == "closing"
        plant.advance(3)
        assert reply.future.done()
        plant.wedged.clear()
        plant.run()  # late news to a pool that has stopped
        assert plant.board.pool().server_state == "stopped"


def test_a_forced_shutdown_does_not_wait() -> None:
    with opened() as plant:
        plant.visit("a")
        assert shut_down(plant, force=True).future.done()


def test_everyone_who_asks_for_the_shutdown_gets_an_answer() -> None:
    with opened() as plant:
        plant.visit("a")
        first, second = shut_down(plant), shut_down(plant)
        assert not first.future.done()
        third = shut_down(plant, force=True)
        assert all(reply.future.done() for reply in (first, second, third))
        assert shut_down(plant).future.done()
        assert shut_down(plant, force=True).future.done()
        names = {message.name for message in plant.clock.pending if _is_timer(message)}
        assert names == {"claim", "session"}, "those of the session"


def test_a_deadline_that_comes_after_the_end_changes_nothing() -> None:
    with opened(1, shutdown_timeout_s=30) as plant:
        plant.visit("a")
        shut_down(plant)
        plant.wedged.add("pool")
        reply: ReplyPort[None] = ReplyPort()
        plant.pool.outlet.put(m.Shutdown(reply, force=True))
        plant.clock.advance(30)
        plant.wedged.clear()
        plant.run()
        assert reply.future.done()
        assert not plant.pool.actor_stopped.is_set()


def test_a_client_that_left_does_not_hold_the_server_up() -> None:
    with opened() as plant:
        client = plant.client("a").claim()
        shut_down(plant)
        client.leave()
        plant.run()
        assert plant.board.pool().server_state == "stopped"


def test_a_crash_on_the_way_down_does_not_hold_the_server_up() -> None:
    with opened() as plant:
        plant.visit("a")
        reply = shut_down(plant)
        plant.crash("unit-0")
        plant.run()
        assert reply.future.done()


def test_when_the_pool_is_stopped_no_actor_is_left() -> None:
    plant = opened(3)
    with plant:
        plant.visit("a").ask()
        plant.crash("stt-1")
        plant.pool.outlet.stop()
        plant.run()
        assert plant.live == []
        assert pykka.ActorRegistry.get_all() == []
        assert plant.clock.pending == []


def test_a_message_that_is_not_for_pools_is_a_fault() -> None:
    with opened() as plant, pytest.raises(TypeError):
        plant.pool.handle(Poison())


# --- any order -----------------------------------------------------------------------------------

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["claim", "leave", "vanish", "step", "crash", "wait"]), st.integers(0, 20)
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(moves=MOVES, units=st.integers(1, 3), queue_limit=st.integers(0, 2))
def test_every_claim_is_answered_once_and_no_unit_is_lost(
    moves: list[tuple[str, int]], units: int, queue_limit: int
) -> None:
    with opened(units, queue_limit=queue_limit, queue_timeout_s=10) as plant:
        clients: list[Client] = []
        for move, number in moves:
            _play(plant, clients, move, number)
            assert plant.capacity == units
            held = [c for c in clients if c.granted is not None and not c.left and not c.closed]
            assert len(held) <= units
        plant.run()
        plant.advance(10)
        assert all(c.answer is not None or c.reply.future.cancelled() for c in clients)
        for client in clients:
            client.leave()
        plant.run()
        assert all(plant.state(unit) == "idle" for unit in range(units))
        assert len(plant.live) == 1 + units * ACTORS_OF_A_UNIT
        assert plant.clock.pending == []
        assert len({unit_of(plant.visit(f"last-{n}")) for n in range(units)}) == units


def _play(plant: SteppedPlant, clients: list[Client], move: str, number: int) -> None:
    match move:
        case "claim":
            clients.append(plant.client(str(len(clients))).claim())
        case "leave" if clients:
            clients[number % len(clients)].leave()
        case "vanish" if clients:
            clients[number % len(clients)].reply.withdraw()
        case "step":
            plant.run_some([number] * number)
        case "crash":
            plant.crash(f"unit-{number % len(plant.board.units())}")
            plant.run_some([number])
        case "wait":
            plant.clock.advance(number)
