"""Real actors in every order that a budget allows, with every accident at every step.

These budgets are small; ``make explore`` goes on with larger ones.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.exploration import search
from tests.exploration.configuration import Configurations
from tests.exploration.faults import faults_in
from tests.exploration.moves import FAULTS, Move, Trace
from tests.exploration.scenarios import SCENARIOS, Scenario
from tests.exploration.search import Budget, explore, replay
from tests.exploration.wired_world import world_of
from tests.exploration.world import World

TURN = Budget(faults=0, turns=1)
CRASH = Budget(faults=1, turns=0, kinds=frozenset({"crash", "burst"}))
ACCIDENT = Budget(faults=1, turns=0)
PLAIN = sorted(name for name, scenario in SCENARIOS.items() if scenario.sessions is None)
"""Those without connections; what goes on with connections is in its own module."""


@pytest.mark.parametrize("scenario", PLAIN)
def test_whoever_goes_out_of_turn_does_no_harm(scenario: str) -> None:
    seen = explore(scenario, TURN)
    print(seen)  # noqa: T201 - for those who run it with -s
    assert seen.complete
    assert seen.configurations > len(SCENARIOS[scenario].script)


@pytest.mark.parametrize("scenario", sorted({*PLAIN} - {"hardly-there"}))
def test_a_crash_at_any_step_does_no_harm(scenario: str) -> None:
    seen = explore(scenario, CRASH)
    print(seen)  # noqa: T201
    assert seen.complete


def test_any_accident_at_any_step_of_a_short_session_does_no_harm() -> None:
    seen = explore("hardly-there", ACCIDENT)
    print(seen)  # noqa: T201
    assert seen.complete


def test_every_kind_of_accident_is_tried_somewhere() -> None:
    tried: set[str] = set()
    for scenario in ("one-after-the-other", "connected-and-served"):
        with world_of(SCENARIOS[scenario]) as world:
            while move := next(iter(world.steps), None) or world.deed:
                tried |= {fault.kind for fault in faults_in(world)}
                world.play(
                    Move("freeze", "a") if "thaw" not in tried and "freeze" in tried else move
                )
    assert tried == FAULTS


def test_steps_that_are_left_out_lead_to_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Scenario(2, (("a", "claim"), ("b", "claim")))
    monkeypatch.setitem(SCENARIOS, "both-come", both)
    thrice = Budget(faults=0, turns=3)
    sparing = explore("both-come", thrice)
    monkeypatch.setattr(search, "_known_from_elsewhere", lambda _moves, _before: [])
    thorough = explore("both-come", thrice)
    assert sparing.complete
    assert thorough.complete
    assert sparing.edges < thorough.edges
    assert sparing._seen.keys() == thorough._seen.keys()


def test_an_exploration_that_runs_out_of_steps_says_so() -> None:
    seen = explore("hardly-there", replace(ACCIDENT, steps=200))
    assert not seen.complete
    assert "INCOMPLETE" in str(seen)


def test_two_explorations_see_the_same() -> None:
    first, second = (explore("hardly-there", TURN) for _ in range(2))
    assert first._seen.keys() == second._seen.keys()
    assert str(first) == str(second)


def test_the_order_in_which_two_units_go_makes_no_difference_to_where_they_are() -> None:
    def after(*names: str) -> bytes:
        with World(SCENARIOS["side-by-side"]) as world:
            for move in ("act a claim", "step pool", "act b claim", "step pool"):
                world.play(Move(*move.split()))
            for name in names:
                world.play(Move("step", name))
            return Configurations(world).read(None)

    assert after("unit-0", "unit-1", "tts-0", "tts-1") == after(
        "unit-1", "tts-1", "unit-0", "tts-0"
    )
    assert after("unit-0", "unit-1", "tts-0") != after("unit-0", "unit-1", "tts-1")


@pytest.mark.parametrize("difference", ["wedge stt-0", "crash stt-0", "leave a", "step stt-0"])
def test_whatever_happens_makes_a_different_configuration(difference: str) -> None:
    with World(SCENARIOS["hardly-there"]) as world:
        for move in ("act a claim", "step pool", "step unit-0"):
            world.play(Move(*move.split()))
        configurations = Configurations(world)
        before = configurations.read(None)
        assert configurations.read(None) == before
        world.play(Move(*difference.split()))
        assert configurations.read(None) != before


def test_a_way_that_somebody_wrote_down_can_be_gone() -> None:
    replay(
        Trace.parse("""
            scenario one-after-the-other
            act a claim
            step pool
            step unit-0
            step conversation-0
            act a ask               # before its voice is there
            step conversation-0
            step conversation-0
            step llm-0              # Bind
            hang llm-0
            leave a                 # and the hanging call is fenced off, but does not return
        """)
    )


@pytest.mark.parametrize(
    "way", ["step nobody-0", "act b claim", "return llm-0", "dance", "step unit-0"]
)
def test_a_way_that_does_not_exist_is_refused(way: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        replay(Trace.parse(f"scenario hardly-there\n{way}"))
