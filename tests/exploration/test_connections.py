"""Real connections, and a whole server around them, in every order that a budget allows.

What has to hold for the units has to hold here too; what else does is in ``wire_promises``.
"""

from __future__ import annotations

import pytest

from tests.exploration import search
from tests.exploration.configuration import Configurations
from tests.exploration.moves import FAULTS, Move, Trace
from tests.exploration.scenarios import SCENARIOS, Scenario
from tests.exploration.search import Budget, Exploration, explore, replay
from tests.exploration.wired_world import LOOP, WiredWorld

WITHIN_A_UNIT = frozenset({"wedge", "hang", "fail", "burst", "double"})
"""Accidents of which a connection notices nothing, or what it notices of a crash."""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> str:
    """A scenario with one client."""
    script = (("a", "claim"), ("a", "leave"))
    monkeypatch.setitem(SCENARIOS, "alone", Scenario(1, script, sessions=1))
    return "alone"


@pytest.mark.parametrize("scenario", ["connected", "one-too-many"])
def test_whoever_goes_out_of_turn_does_no_harm_to_a_connection(scenario: str) -> None:
    seen = explore(scenario, Budget(faults=0, turns=1))
    print(seen)  # noqa: T201 - for those who run it with -s
    assert seen.complete


def test_whatever_befalls_a_connection_at_any_step_does_no_harm(alone: str) -> None:
    seen = explore(alone, Budget(faults=1, turns=0, kinds=FAULTS - WITHIN_A_UNIT))
    print(seen)  # noqa: T201
    assert seen.complete


def test_configurations_that_are_gone_through_once_lead_to_nothing_else_the_second_time(
    alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget(faults=1, turns=0, kinds=frozenset({"leave", "freeze"}))
    merged = explore(alone, budget)
    is_new = Exploration.is_new

    def always(self: Exploration, configuration: bytes, left: Budget) -> bool:
        is_new(self, configuration, left)
        return True

    monkeypatch.setattr(Exploration, "is_new", always)
    monkeypatch.setattr(search, "_known_from_elsewhere", lambda _moves, _before: [])
    unmerged = explore(alone, budget)
    assert merged.edges < unmerged.edges / 2
    assert merged._seen.keys() == unmerged._seen.keys()


def test_two_explorations_of_connections_see_the_same(alone: str) -> None:
    budget = Budget(faults=1, turns=0, kinds=frozenset({"cut"}))
    first, second = (explore(alone, budget) for _ in range(2))
    assert first._seen.keys() == second._seen.keys()
    assert str(first) == str(second)


@pytest.mark.parametrize(
    "difference", ["step loop", "leave a", "vanish a", "cut a", "freeze a", "rubbish a"]
)
def test_whatever_happens_to_a_connection_makes_a_different_configuration(difference: str) -> None:
    with WiredWorld(SCENARIOS["connected"]) as world:
        world.play(Move("act", "a", "claim"))
        while not world.wired["a"].peer.upgraded:
            world.play(LOOP)
        configurations = Configurations(world)
        before = configurations.read(None)
        assert configurations.read(None) == before
        world.play(Move(*difference.split()))
        assert configurations.read(None) != before
        assert configurations.read(None) == Configurations(world).read(None)


def test_a_client_that_freezes_before_it_has_read_anything_is_dropped_by_a_deadline() -> None:
    with WiredWorld(SCENARIOS["connected"]) as world:
        peer = world.wired["a"].peer
        world.play(Move("act", "a", "claim"))
        while not peer.upgraded:
            world.play(world.steps[0])
        world.play(Move("freeze", "a"))
        while world.steps:
            world.play(world.steps[0])
        assert world.wired["a"].state == "connected"
        assert not peer.wire.lost
        world.let_time_pass()
        while world.steps:
            world.play(world.steps[0])
        assert world.wired["a"].state == "closed"
        assert world.wired["a"].given_back == ["unit"]
        assert peer.wire.lost


def test_a_client_for_which_too_much_waits_is_cut_off() -> None:
    with WiredWorld(SCENARIOS["not-read-in-time"]) as world:
        while move := next(iter(world.steps), None) or world.deed:
            world.play(move)
            if world.wired["a"].peer.wire.lost:
                break
        client = world.wired["a"]
        assert client.closed is None  # there was no time for a close frame
        assert client.state == "closed"
        assert client.given_back == ["unit"]


def test_a_way_of_connections_that_somebody_wrote_down_can_be_gone() -> None:
    replay(
        Trace.parse("""
            scenario connected-and-served
            act a claim
            step loop
            step loop               # the request has come
            act a ask               # waits at the client for the server's answer
            step loop
            step loop
            force
            freeze a
        """)
    )


@pytest.mark.parametrize("way", ["step loop", "freeze a", "thaw b"])
def test_a_way_of_connections_that_does_not_exist_is_refused(way: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        replay(Trace.parse(f"scenario connected\n{way}"))
