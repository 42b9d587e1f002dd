"""A backend that fails for everyone is taken out of service, and tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors.breakers import FIRST_BACK_OFF_S, LONGEST_BACK_OFF_S, PROBE_S
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import Refused
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.errors import StageError
from tests.support.stepped_plant import SteppedPlant, append, loud, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.backends.base import Kind
    from tests.support.stepped_plant import Client


def plant_of(units: int = 2, *, queue_limit: int = 0, failing_sessions: int = 3) -> SteppedPlant:
    rules = PoolRules(units, queue_limit, 60.0, failing_sessions=failing_sessions)
    return SteppedPlant(rules, timings=UnitTimings(drain_timeout_s=5))


def crash() -> None:
    raise RuntimeError("a bug")


def fail() -> None:
    raise StageError("llm_unavailable", "It is away.")


def refuse() -> None:
    raise StageError("unsupported", "Nobody could do that.", blames_request=True)


def ask(plant: SteppedPlant, client: Client) -> str | None:
    client.ask()
    plant.run()
    return client.status


def leave(plant: SteppedPlant, client: Client) -> None:
    client.leave()
    plant.run()


def fail_in(plant: SteppedPlant, name: str, surprise: Callable[[], None] = crash) -> None:
    """One session in which the language model fails."""
    client = plant.visit(name)
    plant.mischief.plan("llm", surprise)
    assert ask(plant, client) == "failed"
    leave(plant, client)


def break_down(plant: SteppedPlant, sessions: int = 3) -> None:
    for number in range(sessions):
        fail_in(plant, f"failing-{number}")


def refusal(plant: SteppedPlant, name: str) -> Refused:
    client = plant.client(name).claim()
    plant.run()
    assert isinstance(client.answer, Refused), client.answer
    return client.answer


def failing(plant: SteppedPlant) -> tuple[str, ...]:
    return plant.board.pool().failing


@pytest.mark.parametrize("surprise", [crash, fail])
def test_a_backend_that_fails_in_three_sessions_in_a_row_is_taken_out(
    surprise: Callable[[], None],
) -> None:
    with plant_of() as plant:
        for name in "abc":
            assert failing(plant) == ()
            fail_in(plant, name, surprise)
        assert failing(plant) == ("llm",)
        refused = refusal(plant, "d")
        assert (refused.code, refused.close_code) == ("backend_failing", 1013)
        assert "language model" in refused.message
        assert refused.retry_after_s == FIRST_BACK_OFF_S
        assert plant.board.pool().sessions_total == 3


@pytest.mark.parametrize("kind", ["stt", "tts"])
def test_every_backend_has_a_breaker_of_its_own(kind: Kind) -> None:
    with plant_of() as plant:
        for name in "abc":
            client = plant.visit(name)
            plant.mischief.plan(kind, fail)
            if kind == "stt":
                client.say(append(loud(600) + silent(1500)))
                plant.run()
            else:
                ask(plant, client)
            leave(plant, client)
        assert failing(plant) == (kind,)


def test_voice_detection_that_crashes_for_everyone_is_taken_out() -> None:
    with plant_of() as plant:
        for name in "abc":
            client = plant.visit(name)
            plant.crash("vad-0" if client.granted and client.granted.lease.unit == 0 else "vad-1")
            plant.run()
            leave(plant, client)
        assert failing(plant) == ("vad",)


def test_a_stage_that_hangs_in_one_session_after_the_other_is_taken_out() -> None:
    with plant_of(units=3) as plant:
        for unit, name in enumerate("abc"):
            client = plant.visit(name)
            plant.wedged.add(f"llm-{unit}")
            client.leave()
            plant.run()
            plant.advance(5)
            plant.wedged.clear()
            assert plant.state(unit) == "idle"
        # Only the stage that held the drain up is blamed, not what it kept waiting behind it.
        assert failing(plant) == ("llm",)


def test_what_one_client_provokes_again_and_again_keeps_nobody_out() -> None:
    with plant_of() as plant:
        client = plant.visit("a")
        for _ in range(3):
            plant.mischief.plan("llm", fail)
            assert ask(plant, client) == "failed"
        assert failing(plant) == ()


def test_failures_that_the_request_is_to_blame_for_do_not_count() -> None:
    with plant_of() as plant:
        for number in range(10):
            fail_in(plant, str(number), refuse)
        assert failing(plant) == ()


def test_a_session_in_which_it_works_begins_the_count_anew() -> None:
    with plant_of() as plant:
        for name in "abc":
            fail_in(plant, name)
            fail_in(plant, name + name)
            fine = plant.visit("fine" + name)
            assert ask(plant, fine) == "completed"
            leave(plant, fine)
        assert failing(plant) == ()


def test_with_a_limit_of_0_nothing_is_taken_out() -> None:
    with plant_of(failing_sessions=0) as plant:
        break_down(plant, 10)
        assert failing(plant) == ()


def test_after_the_back_off_one_session_is_let_in_and_no_other() -> None:
    with plant_of() as plant:
        break_down(plant)
        plant.advance(FIRST_BACK_OFF_S)
        assert failing(plant) == ()  # whoever asks may send someone
        plant.visit("probe")
        assert failing(plant) == ("llm",)
        assert refusal(plant, "other").code == "backend_failing"


def test_the_one_that_was_let_in_opens_the_door_for_all_once_its_stage_has_worked() -> None:
    with plant_of() as plant:
        break_down(plant)
        plant.advance(FIRST_BACK_OFF_S)
        probe = plant.visit("probe")
        assert ask(plant, probe) == "completed"
        assert failing(plant) == ()
        other = plant.visit("other")
        leave(plant, probe)
        leave(plant, other)
        assert plant.clock.pending == []


def test_the_back_off_doubles_up_to_a_minute_while_nothing_works() -> None:
    with plant_of() as plant:
        break_down(plant)
        waits_s = []
        for number in range(8):
            wait_s = refusal(plant, f"early-{number}").retry_after_s
            assert wait_s is not None
            waits_s.append(wait_s)
            plant.advance(wait_s - 0.5)
            assert failing(plant) == ("llm",)
            plant.advance(0.5)
            fail_in(plant, f"probe-{number}")
        assert waits_s == [1, 2, 4, 8, 16, 32, LONGEST_BACK_OFF_S, LONGEST_BACK_OFF_S]


def test_a_probe_that_leaves_without_a_word_makes_room_for_the_next() -> None:
    with plant_of() as plant:
        break_down(plant)
        plant.advance(FIRST_BACK_OFF_S)
        leave(plant, plant.visit("silent"))
        assert failing(plant) == ()
        assert ask(plant, plant.visit("next")) == "completed"


def test_a_probe_that_only_holds_the_line_keeps_nobody_out_for_long() -> None:
    with plant_of() as plant:
        break_down(plant)
        plant.advance(FIRST_BACK_OFF_S)
        plant.visit("silent")
        assert refusal(plant, "early").retry_after_s == PROBE_S
        plant.advance(PROBE_S)
        assert ask(plant, plant.visit("next")) == "completed"


def test_a_probe_whose_unit_crashes_makes_room_for_the_next() -> None:
    with plant_of() as plant:
        break_down(plant)
        plant.advance(FIRST_BACK_OFF_S)
        probe = plant.visit("probe")
        assert probe.granted is not None
        plant.crash(f"unit-{probe.granted.lease.unit}")
        plant.run()
        plant.visit("next")


def test_a_session_that_runs_may_show_that_it_works_again() -> None:
    with plant_of(units=3) as plant:
        old = plant.visit("old")
        break_down(plant)
        assert failing(plant) == ("llm",)
        assert ask(plant, old) == "completed"
        assert failing(plant) == ()
        plant.visit("new")


def test_a_session_that_goes_on_failing_does_not_shut_the_door_again_before_one_may_try() -> None:
    with plant_of(units=4) as plant:
        sessions = [plant.visit(name) for name in "abc"]

        def go_on_failing() -> None:
            for client in sessions:
                plant.mischief.plan("llm", fail)
                assert ask(plant, client) == "failed"

        go_on_failing()
        assert failing(plant) == ("llm",)
        plant.advance(FIRST_BACK_OFF_S)
        go_on_failing()
        other = plant.visit("other")
        go_on_failing()
        assert ask(plant, other) == "completed"
        assert failing(plant) == ()


def test_who_waits_is_sent_away_when_a_backend_is_taken_out() -> None:
    with plant_of(units=3, queue_limit=5) as plant:
        sessions = [plant.visit(name) for name in "abc"]
        waiting = plant.client("waiting").claim()
        plant.run()
        for client in sessions:
            plant.mischief.plan("llm", fail)
            ask(plant, client)
        assert isinstance(waiting.answer, Refused)
        assert waiting.answer.code == "backend_failing"
        assert waiting.answer.retry_after_s == FIRST_BACK_OFF_S
        # Nobody touches the sessions that are in.
        assert [client.closed for client in sessions] == [None, None, None]


def test_who_waits_while_a_probe_shows_nothing_is_told_what_fails() -> None:
    with plant_of(queue_limit=5) as plant:
        holders = [plant.visit("holder-0"), plant.visit("holder-1")]
        for client in holders:
            plant.mischief.plan("llm", fail)
            ask(plant, client)
        leave(plant, holders[1])
        fail_in(plant, "third")
        plant.advance(FIRST_BACK_OFF_S)
        plant.visit("probe")
        # Nobody joins the line for what does not work.
        assert refusal(plant, "late").code == "backend_failing"
