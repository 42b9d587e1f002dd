"""A simulation is a server: it answers, refuses, repairs itself, and does so again by its seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.actors.allocation import Allocation
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.stage import StageActor
from s2s_actors.backends.chat import Finished, TextDelta
from s2s_actors.backends.scripted import ScriptedLlm
from s2s_actors.simulation import Agent, Faults, Simulation
from tests.simulation.campaign import AGENT, RULES, check, play, simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import Call
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.simulation import Caller
    from s2s_actors.simulation.reading import Event

TRANSCRIBED = {"type": "realtime", "audio": {"input": {"transcription": {"model": "any"}}}}
SLOW = Agent(script={"llm": {"answers": [{"text": "one two three four five", "token_ms": 500}]}})


# --- conversations ------------------------------------------------------------------------


def test_a_written_question_gets_a_spoken_answer() -> None:
    with Simulation() as world:
        caller = world.call()
        caller.say_text("hello")
        world.run()
        assert caller.answer == "You said: hello"
        assert "response.output_audio.delta" in caller.types


def test_spoken_words_are_heard_and_answered() -> None:
    with Simulation() as world:
        caller = world.call(session=TRANSCRIBED)
        caller.speaks("what is the capital of France")
        world.run()
        assert caller.heard == ["what is the capital of France"]
        assert caller.answer == "You said: what is the capital of France"


def test_each_of_several_callers_is_answered_with_their_own_words() -> None:
    with Simulation(units=3) as world:
        callers = [world.call() for _ in range(3)]
        for number, caller in enumerate(callers):
            caller.speaks(f"I am number {number}")
        world.run()
        assert [caller.answer for caller in callers] == [
            f"You said: I am number {number}" for number in range(3)
        ]


def test_what_is_said_while_the_answer_plays_interrupts_it() -> None:
    with Simulation(agent=Agent(script={"llm": {"answers": ["a long story " * 40]}})) as world:
        caller = world.call()
        caller.say_text("tell me a story")
        world.run(for_s=1)
        caller.speaks("no wait I want something else")
        world.run(for_s=5)
        statuses = [e["response"]["status"] for e in caller.events if e["type"] == "response.done"]
        assert statuses[0] == "cancelled"


def test_the_time_that_a_model_takes_passes_in_no_time() -> None:
    with Simulation(agent=SLOW) as world:
        caller = world.call(session={"type": "realtime", "output_modalities": ["text"]})
        caller.say_text("count")
        world.run(for_s=1.2)
        assert "response.done" not in caller.types
        world.run(for_s=1)
        assert caller.answer == "one two three four five"
        assert world.now_s == pytest.approx(2.2)


def test_a_tool_is_called_and_what_it_says_is_answered_with() -> None:
    call = {"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
    agent = Agent(script={"llm": {"answers": [call, "It is {tool}."]}})
    tool = {"type": "function", "name": "add", "parameters": {"type": "object"}}
    with Simulation(agent=agent) as world:
        caller = world.call(
            session={"type": "realtime", "tools": [tool]},
            tools={"add": lambda a, b: {"sum": a + b}},
        )
        caller.say_text("two and three?")
        world.run()
        assert caller.answer == 'It is {"sum": 5}.'


def test_client_logic_sees_each_event_and_may_answer_it() -> None:
    def logic(caller: Caller, event: Event) -> None:
        if event["type"] == "session.created":
            caller.say_text("first")
        if event["type"] == "response.done" and len(caller.answers) < 3:
            caller.say_text(f"after {caller.answer}")

    with Simulation() as world:
        caller = world.call(on_event=logic)
        world.run()
        assert caller.answers[1] == "You said: after You said: first"
        assert len(caller.answers) == 3


class Parrot(ScriptedLlm):
    """A language model of the user's own."""

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        del call
        yield TextDelta(f"{len(request.messages)}: {request.messages[-1].text}")
        yield Finished("stop", 1, 1)


def test_a_language_model_of_ones_own_answers_and_its_questions_are_kept() -> None:
    with Simulation(agent=Agent(instructions="Repeat.", llm=Parrot())) as world:
        caller = world.call()
        caller.say_text("hello")
        world.run()
        assert caller.answer == "2: hello"
        assert world.asked[0].session_id == caller.session_id
        assert [each.text for each in world.asked[0].request.messages] == ["Repeat.", "hello"]


# --- units and the line -------------------------------------------------------------------


def test_who_finds_no_unit_is_refused_and_never_talks() -> None:
    with Simulation() as world:
        world.call()
        world.run()
        late = world.call()
        late.say_text("hello?")
        world.run()
        assert late.refused is not None
        assert (late.refused.code, late.closed) == (
            "session_limit_reached",
            (1013, late.refused.message),
        )
        assert late.log == []


def test_who_waits_gets_the_unit_of_who_hangs_up() -> None:
    with Simulation(rules=PoolRules(1, queue_limit=1, queue_timeout_s=60)) as world:
        first, second = world.call(), world.call()
        second.say_text("at last")
        world.run(for_s=30)
        (served,) = [caller for caller in (first, second) if caller.is_in]
        served.hang_up()
        world.run()
        assert sum(caller.is_in for caller in (first, second)) == 1
        assert second.is_in or served is second


def test_nobody_waits_for_deadlines_that_nothing_depends_on() -> None:
    with Simulation() as world:
        caller = world.call()
        world.run()
        assert world.now_s < 10
        world.run(for_s=200)
        assert caller.closed is not None
        assert caller.closed[0] == 1008, "nothing was said within the 120 s of a claim"


def test_a_call_that_never_ends_is_cut_off_when_its_caller_hangs_up() -> None:
    stalls = {"llm": {"answers": [{"text": "I will never", "after": 2, "stall": True}]}}
    with Simulation(agent=Agent(script=stalls)) as world:
        caller = world.call()
        caller.say_text("hello")
        world.run()
        assert "response.done" not in caller.types
        caller.hang_up()
        world.run()
        assert world.plant.state() == "idle"


def test_a_call_that_heeds_nothing_costs_its_unit_one_deadline() -> None:
    hangs = {"llm": {"answers": [{"text": "I hang", "wedge_s": 30.0}]}}
    with Simulation(agent=Agent(script=hangs)) as world:
        caller = world.call()
        caller.say_text("hello")
        world.run(for_s=1)
        caller.hang_up()
        world.run(for_s=4.9)
        assert world.plant.state() == "draining"
        world.run(for_s=0.2)
        assert world.plant.state() == "idle"
        assert world.plant.board.units()[0].restarts > 0


# --- the same again -----------------------------------------------------------------------

ONE_SEED = """
import hashlib, json, logging, sys
logging.disable(logging.CRITICAL)
from tests.simulation.campaign import play, simulation
with simulation(int(sys.argv[1])) as world:
    play(world, int(sys.argv[1]))
    told = json.dumps([[each.side, each.event] for caller in world.callers for each in caller.log])
print(world.steps, world.now_s, hashlib.sha256(told.encode()).hexdigest())
"""


def told_by_another_process(seed: int, hash_seed: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ONE_SEED, str(seed)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            **os.environ,
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_seed_is_the_same_run_in_every_process() -> None:
    assert told_by_another_process(5, 1) == told_by_another_process(5, 2)


def logs(seed: int) -> list[Any]:
    with simulation(seed) as world:
        play(world, seed)
        return [[each.side, each.event] for caller in world.callers for each in caller.log]


def test_a_seed_that_follows_another_in_one_process_is_the_same_too() -> None:
    first = logs(3)
    logs(4)
    assert logs(3) == first


def test_another_seed_takes_another_order() -> None:
    def trace(seed: int) -> tuple[str, ...]:
        with Simulation(seed, units=2) as world:
            for caller in (world.call(), world.call()):
                caller.say_text("hello")
            world.run()
            return world.trace

    assert trace(1) == trace(1)
    assert trace(1) != trace(2)


def test_two_simulations_side_by_side_do_not_disturb_each_other() -> None:
    with Simulation(1) as alone:
        caller = alone.call()
        caller.say_text("hello")
        alone.run()
        wanted = caller.events
    with Simulation(1) as one, Simulation(2) as other:
        caller = one.call()
        caller.say_text("hello")
        other.call().say_text("something else")
        for _ in range(300):
            one.run(for_s=0.01)
            other.run(for_s=0.01)
        assert [event["type"] for event in caller.events] == [event["type"] for event in wanted]
        assert {e["event_id"] for e in caller.events} == {e["event_id"] for e in wanted}


# --- faults that are found ----------------------------------------------------------------


def first_failure(seeds: range) -> tuple[int, str] | None:
    for seed in seeds:
        if failure := failure_of(seed):
            return seed, failure
    return None


def failure_of(seed: int) -> str | None:
    faults = Faults(gone=0.005, late=0.2, doubled=0.2)
    try:
        with Simulation(seed, agent=AGENT, faults=faults, rules=RULES) as world:
            play(world, seed)
            check(world)
    except AssertionError as error:
        return "\n".join([str(error), *error.__notes__])
    return None


def deaf_to_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that works for whoever asks."""
    whole = StageActor.handle

    def handle(self: StageActor, message: Any) -> None:
        lease = self._chart.lease
        if lease is not None and getattr(message, "lease", lease) != lease:
            self.work(message)
        else:
            whole(self, message)

    monkeypatch.setattr(StageActor, "handle", handle)


def generous(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that takes a unit back as often as it is offered."""

    def give_back(self: Allocation, lease: Lease) -> bool:
        self._held.pop(lease.unit, None)
        self._idle.append(lease.unit)
        return True

    monkeypatch.setattr(Allocation, "give_back", give_back)


@pytest.mark.parametrize("bug", [deaf_to_leases, generous], ids=lambda bug: bug.__name__)
def test_a_bug_is_found_and_its_seed_finds_it_again(
    bug: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    found = first_failure(range(50))
    assert found is not None, "50 seeds, and nothing seen"
    seed, failure = found
    assert failure_of(seed) == failure
    assert f"Simulation(seed={seed}, units=2, " in failure
    monkeypatch.undo()
    assert failure_of(seed) is None


def test_a_failure_tells_its_seed_and_its_last_steps() -> None:
    world = Simulation(77, units=2).__enter__()
    world.call()
    world.run()
    failure = ZeroDivisionError()
    world.close(failure)
    (note,) = failure.__notes__
    assert "Simulation(seed=77, units=2, " in note
    assert "conversation-0: OpenConversation" in note


def test_a_unit_that_does_not_come_back_fails_the_simulation() -> None:
    world = Simulation().__enter__()
    world.call()
    world.run()
    world.plant.wedged.add("unit-0")
    with pytest.raises(AssertionError, match="not every unit came back"):
        world.close()


def test_faults_befall_some_and_are_told() -> None:
    with Simulation(1, faults=Faults(crash=0.05)) as world:
        caller = world.call()
        caller.say_text("hello")
        world.run()
        assert any("crashes" in line for line in world.trace)


def test_a_script_with_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(Exception, match="nonsense"):
        Simulation(agent=Agent(script=json.loads('{"llm": {"nonsense": 1}}')))
