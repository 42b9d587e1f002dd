"""Whatever the order of things: no session reaches another, and every unit comes back.

Two kinds of tests. The first lets Hypothesis play with a whole plant: clients come, talk and
vanish, stages and units crash or hang, time passes, stale messages arrive, and between all
that the actors are stepped in any order. The second looks at one drain in every detail.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pykka
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from s2s_actors.actors import messages as m
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.backends.base import Transcript
from s2s_actors.backends.chat import Finished, TextDelta
from s2s_actors.errors import StageError
from s2s_actors.protocol import client_events as ce
from s2s_actors.runtime.mailbox import TwoLaneMailbox
from s2s_actors.runtime.outlet import LaneFullError
from tests.support.stepped_plant import (
    STAGES,
    Client,
    SteppedPlant,
    append,
    loud,
    silent,
    text_item,
)

if TYPE_CHECKING:
    from s2s_actors.backends.base import Kind
    from s2s_actors.protocol.client_events import ClientEvent

MODEL_KINDS: tuple[Kind, ...] = ("vad", "stt", "llm", "tts", "turn")
TIMINGS = UnitTimings(claim_timeout_s=120, drain_timeout_s=5)
ACTORS_OF_A_UNIT = 1 + len(STAGES)
IDS = re.compile(r"\b(?:item|resp|conv)_[0-9a-f]{24}\b")

EVENTS: dict[str, list[ClientEvent]] = {
    "ask": [text_item("hello"), ce.ResponseCreate()],
    "utter": [append(silent(64) + loud(160) + silent(600))],
    "begin to speak": [append(silent(64) + loud(160))],
    "fall silent": [append(silent(600))],
    "hesitate": [append(silent(64) + loud(320) + silent(160))],
    "commit": [append(loud(150)), ce.AudioCommit()],
    "cancel": [ce.ResponseCancel()],
    "clear": [ce.AudioClear()],
    "push to talk": [
        ce.SessionUpdate(session={"type": "realtime", "audio": {"input": {"turn_detection": None}}})
    ],
    "be listened to closely": [
        ce.SessionUpdate(
            session={
                "type": "realtime",
                "audio": {"input": {"turn_detection": {"type": "semantic_vad"}}},
            }
        )
    ],
    "talk freely": [
        ce.SessionUpdate(
            session={
                "type": "realtime",
                "audio": {"input": {"turn_detection": {"type": "server_vad"}}},
            }
        )
    ],
}


def stale_messages(lease: Lease) -> list[tuple[str, object]]:
    """What may still be on its way after the end of a session, and where it is going."""
    error = StageError("late", f"{lease.session_id} failed")
    words = f"{lease.session_id} says"
    return [
        ("conversation", m.Transcribed(lease, "item_x", Transcript(words))),
        ("conversation", m.Generated(lease, "resp_x", TextDelta(words))),
        ("conversation", m.Generated(lease, "resp_x", Finished("stop", 1, 1))),
        ("conversation", m.Spoken(lease, "resp_x", 0, loud(20), last=True)),
        ("conversation", m.ResponseFailed(lease, "resp_x", error)),
        ("conversation", m.SpeechStarted(lease, 0, 0)),
        ("conversation", m.SpeechLasted(lease, 128, 128, 0)),
        ("conversation", m.SpeechPaused(lease, 500, 400, 0)),
        ("conversation", m.SpeechWeighed(lease, 1.0, 400, 0, 0)),
        ("conversation", m.SpeechQuiet(lease, 900, 500, 0)),
        ("conversation", m.SpeechResumed(lease, 600, 0)),
        ("conversation", m.SpeechDismissed(lease, 0)),
        ("conversation", m.SpeechStopped(lease, 900, 400, 0)),
        ("conversation", m.StageReplaced(lease, "llm")),
        ("conversation", m.ClientFrame(lease, text_item(words), 0.0, 10)),
        ("conversation", m.TimerFired(lease, "session", 1)),
        ("conversation", m.SessionEnd(lease)),
        ("vad", m.AudioIn(lease, loud(200), 0, 0.0)),
        ("vad", m.ConfigureVad(lease, None, 7)),
        ("vad", m.AudioEnded(lease, 0)),
        ("vad", m.AnswerPlayed(lease, loud(200), 0)),
        ("llm", m.SessionEnd(lease)),
        ("unit", m.SessionEnd(lease)),
        ("unit", m.EndSession(lease, words, close_code=1011, error_code="internal_error")),
        ("unit", m.SessionStarted(lease)),
        ("unit", m.StagePassed(lease, "stt")),
        ("unit", m.TimerFired(lease, "drain", 1)),
        ("pool", m.UnitIdle(lease.unit, lease)),
        ("pool", m.CancelClaim(lease.session_id)),
    ]


NUMBER_OF_STALE = 29


class PlantMachine(RuleBasedStateMachine):
    """Plays with a plant of a few units."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: list[Client] = []

    @initialize(units=st.integers(1, 2), queue_limit=st.integers(0, 1))
    def build(self, units: int, queue_limit: int) -> None:
        self.units = units
        rules = PoolRules(units, queue_limit=queue_limit, queue_timeout_s=10)
        with ExitStack() as stack:
            self.plant = stack.enter_context(SteppedPlant(rules, timings=TIMINGS))
            self.entered = stack.pop_all()

    # --- clients ---------------------------------------------------------------------------

    @precondition(lambda self: len(self.clients) < 8)
    @rule()
    def come(self) -> None:
        self.clients.append(self.plant.client(f"{len(self.clients)}").claim())

    @precondition(lambda self: len(self.clients) < 8)
    @rule()
    def come_in_and_ask(self) -> None:
        self.come()
        self.plant.run()
        self.say(len(self.clients) - 1, "ask")

    @precondition(lambda self: self.clients)
    @rule(who=st.integers(0, 7), what=st.sampled_from(sorted(EVENTS)))
    def say(self, who: int, what: str) -> None:
        try:
            self._client(who).say(*EVENTS[what])
        except LaneFullError:
            return

    @precondition(lambda self: self.clients)
    @rule(who=st.integers(0, 7))
    def leave(self, who: int) -> None:
        self._client(who).leave()

    @precondition(lambda self: self.clients)
    @rule(who=st.integers(0, 7))
    def vanish_while_claiming(self, who: int) -> None:
        client = self._client(who)
        if client.reply.withdraw() is None:
            client.left = True

    @property
    def over(self) -> list[Lease]:
        """Leases of sessions that have ended, to the last trace."""
        held = self.plant.leases
        granted = [client.granted.lease for client in self.clients if client.granted is not None]
        return [lease for lease in granted if lease not in held]

    @precondition(lambda self: self.over)
    @rule(who=st.integers(0, 7), which=st.integers(0, NUMBER_OF_STALE - 1))
    def hear_something_stale(self, who: int, which: int) -> None:
        over = self.over
        lease = over[who % len(over)]
        where, message = stale_messages(lease)[which]
        name = where if where == "pool" else f"{where}-{lease.unit}"
        for actor in self.plant.live:
            if actor.name == name:
                actor.outlet.put(message)

    def _client(self, who: int) -> Client:
        return self.clients[who % len(self.clients)]

    # --- the schedule ------------------------------------------------------------------------

    @rule(choices=st.lists(st.integers(0, 12), max_size=15))
    def step_some(self, choices: list[int]) -> None:
        self.plant.run_some(choices)

    @rule()
    def step_until_nothing_is_left(self) -> None:
        self.plant.run()

    @rule(seconds=st.sampled_from([0.0, 1.0, 5.0, 120.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.plant.clock.advance(seconds)

    # --- accidents ---------------------------------------------------------------------------

    @rule(stage=st.sampled_from(STAGES), unit=st.integers(0, 1))
    def a_stage_crashes(self, stage: str, unit: int) -> None:
        self.plant.crash(f"{stage}-{unit}")

    @rule(unit=st.integers(0, 1))
    def a_unit_crashes(self, unit: int) -> None:
        self.plant.crash(f"unit-{unit}")

    @rule(kind=st.sampled_from(MODEL_KINDS), how=st.sampled_from(["bug", "error"]))
    def a_model_will_fail(self, kind: Kind, how: str) -> None:
        self.plant.mischief.plan(kind, _bug if how == "bug" else _stage_error)

    @rule(stage=st.sampled_from(STAGES), unit=st.integers(0, 1))
    def a_stage_hangs(self, stage: str, unit: int) -> None:
        self.plant.wedged.add(f"{stage}-{unit}")

    @precondition(lambda self: self.plant.wedged)
    @rule()
    def what_hung_goes_on(self) -> None:
        self.plant.wedged.clear()

    @rule(left=st.sampled_from([0, 1, 3, 1_000_000]))
    def threads_are_short(self, left: int) -> None:
        self.plant.threads_left = left

    # --- what always holds ---------------------------------------------------------------------

    @invariant()
    def capacity_is_conserved(self) -> None:
        if hasattr(self, "plant"):
            assert self.plant.capacity == self.units

    @invariant()
    def the_pool_lives(self) -> None:
        if hasattr(self, "plant"):
            assert not self.plant.pool.actor_stopped.is_set()

    def teardown(self) -> None:
        if not hasattr(self, "plant"):
            return
        with self.entered:
            self.everyone_hears_only_their_own()
            self.everything_comes_back()

    def everyone_hears_only_their_own(self) -> None:
        seen: dict[str, str] = {}
        for client in self.clients:
            assert client.foreign_words() == []
            for found in IDS.findall(b" ".join(client.frames).decode()):
                assert seen.setdefault(found, client.session_id) == client.session_id

    def everything_comes_back(self) -> None:
        plant = self.plant
        plant.threads_left = 1_000_000
        plant.mischief.forget()
        plant.run()
        plant.advance(10)
        assert all(c.answer is not None or c.reply.future.cancelled() for c in self.clients)
        for client in self.clients:
            client.leave()
        plant.run()
        # What hangs still hangs: only deadlines help.
        plant.advance(5)
        plant.wedged.clear()
        plant.advance(2)
        assert [plant.state(unit) for unit in range(self.units)] == ["idle"] * self.units
        assert plant.clock.pending == []
        assert len(plant.live) == 1 + self.units * ACTORS_OF_A_UNIT
        self.every_unit_serves()
        self.everyone_hears_only_their_own()

    def every_unit_serves(self) -> None:
        plant = self.plant
        last = [plant.visit(f"last-{unit}") for unit in range(self.units)]
        for client in last:
            client.ask()
            client.say(*EVENTS["utter"])
            plant.run()
            assert client.types.count("response.done") >= 1
            assert client.foreign_words() == []
            client.leave()
        plant.run()
        self.clients += last


def _bug() -> None:
    raise RuntimeError("a bug")


def _stage_error() -> None:
    raise StageError("planned", "It failed.")


PlantMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=30)
TestPlant = PlantMachine.TestCase


# --- one session after the other -----------------------------------------------------------------

STEP, CRASH, LEAVE_AGAIN = "step", "crash", "leave again"
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just(STEP), st.lists(st.integers(0, 12), min_size=1, max_size=12)),
        st.tuples(st.just(CRASH), st.sampled_from(STAGES)),
        st.tuples(st.just(LEAVE_AGAIN), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=120)
@given(
    before=st.lists(st.integers(0, 12), max_size=60),
    what=st.lists(st.sampled_from(sorted(EVENTS)), max_size=4),
    moves=MOVES,
)
def test_the_marker_comes_out_whatever_crashes_and_in_whatever_order(
    before: list[int],
    what: list[str],
    moves: list[tuple[str, list[int] | str | None]],
) -> None:
    with SteppedPlant(PoolRules(1, queue_limit=1), timings=TIMINGS) as plant:
        first = plant.visit("a")
        second = plant.client("b").claim()
        plant.step(plant.pool)
        for event in what:
            first.say(*EVENTS[event])
        plant.run_some(before)
        first.leave()
        for move, argument in moves:
            if move == STEP and isinstance(argument, list):
                plant.run_some(argument)
            elif move == CRASH:
                plant.crash(f"{argument}-0")
            else:
                assert first.granted is not None
                first.granted.unit.put(m.EndSession(first.granted.lease, "again"))
        # From here on nothing helps but SESSION_END: no deadline ever comes.
        plant.run()

        assert second.granted is not None
        second.ask()
        plant.run()
        assert second.foreign_words() == []
        if second.closed is None:
            assert second.status == "completed"
            second.leave()
            plant.run()
        else:
            assert second.closed == 1011, "too many crashes, or one of the conversation"
        assert plant.state() == "idle"
        assert plant.clock.monotonic_s() == 0
        assert plant.clock.pending == []


@settings(max_examples=60)
@given(
    steps=st.lists(st.integers(0, 12), max_size=60),
    stuck=st.sampled_from(STAGES),
    late=st.lists(st.integers(0, 12), max_size=60),
)
def test_a_stage_that_hangs_costs_one_deadline_and_nothing_else(
    steps: list[int], stuck: str, late: list[int]
) -> None:
    with SteppedPlant(PoolRules(1, queue_limit=1), timings=TIMINGS) as plant:
        first = plant.visit("a")
        second = plant.client("b").claim()
        plant.step(plant.pool)
        first.say(*EVENTS["ask"], *EVENTS["utter"])
        plant.run_some(steps)
        plant.wedged.add(f"{stuck}-0")
        first.leave()
        plant.run()
        plant.clock.advance(TIMINGS.drain_timeout_s)
        plant.run_some(late)
        plant.wedged.clear()
        plant.run()
        assert second.granted is not None
        second.say(*EVENTS["ask"])
        plant.run()
        assert second.status == "completed"
        assert second.foreign_words() == []


def drafting(plant: SteppedPlant, name: str) -> Client:
    """Someone who pauses, while an answer is drafted that nobody knows of."""
    client = plant.visit(name)
    client.say(*EVENTS["hesitate"])
    while not any(isinstance(message, m.Generate) for message in waiting(plant, "llm-0")):
        plant.step(next(actor for actor in plant.ready if actor.name != "llm-0"))
    assert "response.created" not in client.types
    return client


def waiting(plant: SteppedPlant, name: str) -> list[object]:
    """What an actor has not handled yet."""
    inbox = plant.actor(name).actor_inbox
    assert isinstance(inbox, TwoLaneMailbox)
    return [envelope.message for envelope in inbox._data]


@settings(max_examples=60)
@given(
    steps=st.lists(st.integers(0, 12), max_size=40),
    more=st.lists(st.sampled_from(["fall silent", "hesitate", "ask", "clear"]), max_size=2),
    late=st.lists(st.integers(0, 12), max_size=60),
)
def test_a_draft_that_is_being_made_when_the_session_ends_reaches_nobody(
    steps: list[int], more: list[str], late: list[int]
) -> None:
    with SteppedPlant(PoolRules(1, queue_limit=1), timings=TIMINGS) as plant:
        first = drafting(plant, "a")
        second = plant.client("b").claim()
        plant.step(plant.pool)
        for event in more:
            first.say(*EVENTS[event])
        plant.run_some(steps)
        first.leave()
        plant.run_some(late)
        # No deadline ever comes: SESSION_END alone frees the unit.
        plant.run()
        assert plant.clock.monotonic_s() == 0
        assert second.granted is not None
        assert second.types == ["session.created"]
        second.say(*EVENTS["utter"])
        plant.run()
        assert second.status == "completed"
        assert second.foreign_words() == []


@pytest.mark.parametrize("which", range(NUMBER_OF_STALE))
@pytest.mark.parametrize("begun", [False, True])
def test_nothing_stale_touches_the_session_that_follows(which: int, begun: bool) -> None:
    with SteppedPlant(timings=TIMINGS) as plant:
        first = plant.visit("a")
        assert first.granted is not None
        first.ask()
        plant.run()
        first.leave()
        plant.run()
        second = plant.visit("b")
        if begun:
            second.ask()
            plant.run()
        where, message = stale_messages(first.granted.lease)[which]
        sent, state = len(second.frames), plant.state()
        plant.actor(where if where == "pool" else f"{where}-0").outlet.put(message)
        plant.run()
        assert (len(second.frames), plant.state()) == (sent, state)
        second.ask()
        plant.run()
        assert second.status == "completed"
        assert second.foreign_words() == []


def test_every_stale_message_is_tried() -> None:
    lease = Lease.issue(0, "canary-a")
    assert len(stale_messages(lease)) == NUMBER_OF_STALE


def test_a_plant_that_has_closed_leaves_nothing() -> None:
    with SteppedPlant(PoolRules(2)) as plant:
        plant.visit("a").ask()
    assert plant.live == []
    assert pykka.ActorRegistry.get_all() == []
