"""One unit: its life cycle, its repairs, and what it tells its client."""

from __future__ import annotations

from collections import deque
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.actors import messages as m
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.ports import SessionWish
from s2s_actors.actors.unit import UnitActor, UnitTimings
from s2s_actors.protocol import client_events as ce
from s2s_actors.runtime.reply import ReplyPort
from tests.support.stepped_plant import STAGES, SteppedPlant, append, loud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.actors.board import UnitSnapshot
    from s2s_actors.actors.ports import ClaimReply
    from s2s_actors.backends.base import Kind
    from tests.support.stepped_plant import Client

MODEL_STAGES = STAGES[1:]
TIMINGS = UnitTimings(claim_timeout_s=120, drain_timeout_s=5, max_restarts=3, restart_window_s=60)


@pytest.fixture
def plant() -> Iterator[SteppedPlant]:
    with SteppedPlant(timings=TIMINGS) as plant:
        yield plant


def snapshot(plant: SteppedPlant) -> UnitSnapshot:
    return plant.board.units()[0]


def codes(client: Client) -> list[str]:
    return [event["error"]["code"] for event in client.events if event["type"] == "error"]


def can_serve(plant: SteppedPlant, name: str = "next") -> bool:
    """Whether the unit takes a session, answers in it and comes back."""
    client = plant.visit(name)
    client.ask()
    plant.run()
    client.leave()
    plant.run()
    return client.status == "completed" and client.foreign_words() == [] and plant.state() == "idle"


# --- the life cycle --------------------------------------------------------------------------


def test_a_session_goes_round_and_the_board_shows_where_it_is(plant: SteppedPlant) -> None:
    began_s = plant.clock.wall_s()
    seen = [snapshot(plant)]
    plant.advance(10)
    client = plant.visit("a")
    seen.append(snapshot(plant))
    plant.advance(10)
    client.ask()
    plant.run()
    seen.append(snapshot(plant))
    plant.advance(10)
    plant.wedged.add("stt-0")
    client.leave()
    plant.run()
    seen.append(snapshot(plant))
    plant.clock.advance(1)
    plant.wedged.clear()
    plant.run()
    seen.append(snapshot(plant))

    assert [
        (s.state, s.session_id, s.since - began_s, _since(s.released_at, began_s)) for s in seen
    ] == [
        ("idle", None, 0, None),
        ("claimed", "canary-a", 10, None),
        ("active", "canary-a", 20, None),
        ("draining", "canary-a", 30, None),
        ("idle", None, 31, 31),
    ]
    assert [_since(s.claimed_at, began_s) for s in seen] == [None, 10, 10, 10, 10]
    assert seen[1].epoch > 0
    assert {s.epoch for s in seen[1:]} == {seen[1].epoch}
    assert plant.clock.pending == []


def _since(moment_s: float | None, began_s: float) -> float | None:
    return None if moment_s is None else moment_s - began_s


def test_a_repair_changes_the_restarts_but_not_since(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    before = snapshot(plant)
    plant.clock.advance(10)
    plant.crash("stt-0")
    plant.run()
    after = snapshot(plant)
    assert (after.state, after.since, after.restarts) == ("active", before.since, 1)


def test_a_stage_that_breaks_again_and_again_while_nobody_is_there_takes_its_unit_with_it(
    plant: SteppedPlant,
) -> None:
    for _ in range(TIMINGS.max_restarts):
        plant.crash("stt-0")
        plant.run()
    assert snapshot(plant).rebuilds == 0
    plant.crash("stt-0")
    plant.run()
    assert (snapshot(plant).rebuilds, snapshot(plant).state) == (1, "idle")
    assert can_serve(plant)


def test_repairs_that_are_far_apart_do_not_add_up(plant: SteppedPlant) -> None:
    for _ in range(3 * TIMINGS.max_restarts):
        plant.crash("stt-0")
        plant.run()
        plant.advance(TIMINGS.restart_window_s / 2)
    assert snapshot(plant).rebuilds == 0


def test_no_reader_ever_sees_an_idle_unit_with_a_session(plant: SteppedPlant) -> None:
    seen: list[UnitSnapshot] = []
    publish = plant.board.publish_unit

    def keep(snapshot: UnitSnapshot) -> None:
        seen.append(snapshot)
        publish(snapshot)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(plant.board), "publish_unit", lambda _, snapshot: keep(snapshot))
        assert can_serve(plant)
    assert [s.state for s in seen] == ["claimed", "active", "draining", "idle"]
    assert all((s.session_id is None) == (s.state == "idle") for s in seen)
    assert seen[-1].released_at is not None


def test_a_client_that_never_says_anything_is_sent_away(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.advance(119)
    assert plant.state() == "claimed"
    plant.advance(1)
    assert codes(client) == ["session_start_timeout"]
    assert client.closed == 1008
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_the_first_event_of_a_client_stops_that_clock(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.advance(119)
    client.say(ce.AudioClear())
    plant.run()
    plant.advance(1000)
    assert plant.state() == "active"
    assert client.closed is None


def test_a_claim_timeout_that_comes_just_too_late_changes_nothing(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.say(ce.AudioClear())
    plant.step(plant.actor("conversation-0"))
    plant.clock.advance(120)  # the first event is on its way, and now so is the timer
    plant.run()
    assert plant.state() == "active"
    assert client.closed is None


def test_a_claim_timeout_that_comes_after_the_end_does_not_stop_the_drains_clock(
    plant: SteppedPlant,
) -> None:
    client = plant.visit("a")
    plant.wedged.update({"unit-0", "tts-0"})
    client.leave()
    plant.clock.advance(120)  # in the mailbox, behind the end of the session
    plant.wedged.discard("unit-0")
    plant.run()
    assert plant.state() == "draining"
    plant.advance(5)
    assert plant.state() == "idle"


def test_a_client_that_left_before_the_grant_does_not_keep_the_unit(plant: SteppedPlant) -> None:
    client = plant.client("a").claim()
    assert client.reply.withdraw() is None
    plant.run()
    assert plant.state() == "idle"
    assert plant.capacity == 1
    assert can_serve(plant)


def test_a_client_that_leaves_between_claim_and_grant_does_not_either(plant: SteppedPlant) -> None:
    client = plant.client("a").claim()
    plant.step(plant.pool)
    client.leave()
    plant.run()
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_a_session_that_ends_before_it_began_leaves_nothing(plant: SteppedPlant) -> None:
    client = plant.client("a").claim()
    plant.step(plant.pool)
    plant.step(plant.actor("unit-0"))
    client.leave()  # the conversation has not even been opened
    plant.run()
    assert plant.state() == "idle"
    assert plant.clock.pending == []


def test_ending_a_session_twice_ends_it_once(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    grant = client.granted
    assert grant is not None
    for _ in range(3):
        grant.unit.put(m.EndSession(grant.lease, "gone"))
    plant.run()
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_a_late_end_of_one_session_does_not_touch_the_next(plant: SteppedPlant) -> None:
    first = plant.visit("a")
    grant = first.granted
    assert grant is not None
    first.leave()
    plant.run()
    second = plant.visit("b")
    grant.unit.put(m.EndSession(grant.lease, "gone", close_code=1011, error_code="internal_error"))
    grant.unit.put(m.SessionEnd(grant.lease))
    grant.unit.put(m.SessionStarted(grant.lease))
    grant.unit.put(m.StagePassed(grant.lease, "llm"))
    grant.unit.put(m.TimerFired(grant.lease, "claim", 1))
    plant.run()
    assert plant.state() == "claimed"
    assert second.closed is None
    assert codes(second) == []


def test_a_claim_of_a_unit_that_is_in_use_changes_nothing(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    intruder = plant.client("b")
    lease = Lease.issue(0, intruder.session_id)
    before = snapshot(plant)
    plant.actor("unit-0").outlet.put(m.ClaimUnit(lease, intruder, intruder.reply, SessionWish()))
    plant.run()
    assert intruder.granted is None
    assert snapshot(plant) == before
    client.ask()
    plant.run()
    assert client.status == "completed"
    assert intruder.frames == []


# --- the drain ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_does_not_drain_in_time_is_replaced(plant: SteppedPlant, stage: str) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    stuck = plant.actor(f"{stage}-0")
    plant.wedged.add(stuck.name)
    client.leave()
    plant.run()
    plant.advance(4.9)
    assert plant.state() == "draining"
    plant.clock.advance(0.1)
    plant.wedged.clear()
    plant.run()
    assert plant.state() == "idle"
    assert stuck.actor_stopped.is_set()
    # It and all that the marker had not reached behind it.
    assert snapshot(plant).restarts == len(STAGES) - STAGES.index(stage)
    assert can_serve(plant)


def test_the_deadline_counts_from_the_end_of_this_session(plant: SteppedPlant) -> None:
    assert can_serve(plant, "a")
    client = plant.visit("b")
    plant.advance(10)  # far beyond the deadline that the first one had
    assert plant.state() == "claimed"
    assert client.closed is None


def test_a_marker_that_comes_with_the_deadline_counts(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.leave()
    plant.wedged.add("unit-0")
    plant.wedged.discard("unit-0")
    plant.step(plant.actor("unit-0"))  # the end of the session
    plant.wedged.add("unit-0")
    plant.run()  # the marker has come out, the unit has not seen it
    plant.clock.advance(5)
    plant.wedged.clear()
    plant.run()
    assert plant.state() == "idle"
    assert snapshot(plant).restarts == 0
    assert plant.capacity == 1
    assert can_serve(plant)


def test_without_a_thread_to_be_had_the_unit_waits_and_tries_again(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.add("stt-0")
    client.leave()
    plant.run()
    plant.threads_left = 2
    plant.advance(5)
    assert plant.state() == "quarantined"
    assert snapshot(plant).session_id == "canary-a"
    quarantined_since = snapshot(plant).since
    plant.threads_left = 0
    plant.advance(1)
    assert (plant.state(), snapshot(plant).since) == ("quarantined", quarantined_since)
    plant.threads_left = 1000
    plant.wedged.clear()
    plant.advance(1)
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_a_stage_that_comes_round_ends_the_quarantine(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.add("stt-0")
    client.leave()
    plant.run()
    plant.threads_left = 0
    plant.advance(5)
    assert plant.state() == "quarantined"
    plant.wedged.clear()
    plant.run()
    assert plant.state() == "idle"
    assert plant.clock.pending == [], "it would still be repaired"
    plant.threads_left = 1000
    assert can_serve(plant)


@pytest.mark.parametrize("kind", ["stt", "llm", "tts"])
def test_what_a_replaced_stage_says_at_last_reaches_nobody(plant: SteppedPlant, kind: Kind) -> None:
    first, second = plant.visit("a"), plant.client("b")

    def meanwhile() -> None:
        # The model hangs; everything else goes on.
        first.leave()
        plant.run()
        plant.advance(5)
        assert plant.state() == "idle"
        second.claim()
        plant.run()
        second.ask()
        plant.run()

    plant.mischief.plan(kind, meanwhile)
    first.say(append(loud(400)), ce.AudioCommit())
    first.ask()
    plant.run()
    assert second.status == "completed"
    assert second.foreign_words() == []
    assert second.types.count("response.created") == 1


def test_a_drain_cuts_off_what_still_works_for_the_session(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.update({"llm-0", "stt-0"})
    client.say(append(loud(400)), ce.AudioCommit())
    client.ask()
    plant.run()
    client.leave()
    plant.wedged.clear()
    plant.mischief.plan("llm", lambda: pytest.fail("the model was asked in vain"))
    plant.mischief.plan("stt", lambda: pytest.fail("the model was asked in vain"))
    unit, conversation = plant.actor("unit-0"), plant.actor("conversation-0")
    plant.step(unit)  # fences
    assert plant.ready.count(conversation) == 1
    plant.run()
    assert plant.state() == "idle"
    plant.mischief.forget()


def test_a_stopping_process_cuts_off_what_still_works(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.add("llm-0")
    client.ask()
    plant.run()
    llm = plant.actor("llm-0")
    (work,) = [e.message for e in _waiting(llm) if isinstance(e.message, m.Generate)]
    assert not work.cancel.cancelled
    plant.pool.outlet.stop()
    plant.run()
    assert work.cancel.cancelled


def _waiting(actor: Any) -> deque[Any]:
    return deque(actor.actor_inbox._data)


# --- crashes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_a_crash_while_idle_is_repaired_and_nobody_hears_of_it(
    plant: SteppedPlant, stage: str
) -> None:
    plant.crash(f"{stage}-0")
    plant.run()
    assert snapshot(plant).restarts == 1
    assert can_serve(plant)


@pytest.mark.parametrize("stage", STAGES)
def test_a_crash_that_a_claim_overtakes_is_repaired_too(plant: SteppedPlant, stage: str) -> None:
    client = plant.client("a").claim()
    plant.step(plant.pool)
    plant.crash(f"{stage}-0")  # the claim is ahead of the report
    plant.run()
    if stage == "conversation":
        assert (codes(client), plant.state()) == (["internal_error"], "idle")
        assert can_serve(plant)
    else:
        client.ask()
        plant.run()
        assert client.status == "completed"


@pytest.mark.parametrize("stage", MODEL_STAGES)
@pytest.mark.parametrize("begun", [False, True])
def test_a_crash_in_a_session_is_repaired_and_the_session_goes_on(
    plant: SteppedPlant, stage: str, begun: bool
) -> None:
    client = plant.visit("a")
    if begun:
        client.ask()
        plant.run()
    plant.crash(f"{stage}-0")
    plant.run()
    assert plant.state() == ("active" if begun else "claimed")
    assert client.closed is None
    client.ask()
    plant.run()
    assert client.status == "completed"
    client.leave()
    plant.run()
    assert plant.state() == "idle"
    assert can_serve(plant)


@pytest.mark.parametrize("stage", ["llm", "tts"])
def test_a_crash_fails_the_response_that_it_cut_off(plant: SteppedPlant, stage: Kind) -> None:
    client = plant.visit("a")
    plant.mischief.plan(stage, _bug)
    client.ask()
    plant.run()
    assert client.status == "failed"
    assert client.types.count("response.done") == 1
    client.ask()
    plant.run()
    assert client.status == "completed"


def test_a_crash_of_speech_recognition_fails_the_transcription(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.say(
        ce.SessionUpdate(
            session={"type": "realtime", "audio": {"input": {"transcription": {"model": "x"}}}}
        )
    )
    plant.mischief.plan("stt", _bug)
    client.say(append(loud(400)), ce.AudioCommit())
    plant.run()
    failed = [e for e in client.events if e["type"].endswith("transcription.failed")]
    assert [e["error"]["code"] for e in failed] == ["stage_failed"]
    client.say(append(loud(400)), ce.AudioCommit())
    plant.run()
    assert sum(kind.endswith("transcription.completed") for kind in client.types) == 1


@pytest.mark.parametrize("stage", STAGES)
def test_a_crash_in_a_drain_loses_no_marker(plant: SteppedPlant, stage: str) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    plant.wedged.add(f"{stage}-0")
    client.leave()
    plant.run()
    plant.wedged.clear()
    plant.crash(f"{stage}-0")  # with the marker in its mailbox
    plant.run()
    assert plant.state() == "idle"
    assert snapshot(plant).restarts == 1
    assert client.closed is None
    assert can_serve(plant)


@pytest.mark.parametrize("stage", STAGES)
def test_a_crash_that_is_reported_only_in_the_drain_loses_no_marker(
    plant: SteppedPlant, stage: str
) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    client.leave()
    plant.crash(f"{stage}-0")
    plant.run()
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_a_conversation_that_crashes_ends_the_session(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    plant.crash("conversation-0")
    plant.run()
    assert codes(client) == ["internal_error"]
    assert client.closed == 1011
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_a_conversation_that_crashes_leaves_no_timer_and_no_work_behind(
    plant: SteppedPlant,
) -> None:
    plant.visit("a")
    assert plant.clock.pending != []
    plant.crash("conversation-0")
    plant.run()
    assert plant.state() == "idle"
    assert plant.clock.pending == []


def test_a_client_is_told_only_once_how_its_session_ended(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.add("vad-0")
    plant.advance(120)  # it never said anything
    plant.crash("conversation-0")
    plant.run()
    assert codes(client) == ["session_start_timeout"]
    assert [code for code, _ in client.farewells] == [1008]


def test_too_many_crashes_end_the_session(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    for _ in range(3):
        plant.crash("tts-0")
        plant.run()
    assert plant.state() == "claimed"
    plant.crash("llm-0")
    plant.run()
    assert codes(client) == ["internal_error"]
    assert client.closed == 1011
    assert plant.state() == "idle"
    assert can_serve(plant)


def test_crashes_far_apart_are_borne(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.ask()
    plant.run()
    for _ in range(10):
        plant.crash("tts-0")
        plant.advance(20)
    assert plant.state() == "active"
    assert snapshot(plant).restarts == 10


def test_the_crashes_of_one_session_are_not_held_against_the_next(plant: SteppedPlant) -> None:
    first = plant.visit("a")
    for _ in range(3):
        plant.crash("tts-0")
        plant.run()
    first.leave()
    plant.run()
    second = plant.visit("b")
    plant.crash("tts-0")
    plant.run()
    assert second.closed is None
    second.ask()
    plant.run()
    assert second.status == "completed"


def test_the_crash_of_a_stage_that_has_been_replaced_is_nobodys_business(
    plant: SteppedPlant,
) -> None:
    client = plant.visit("a")
    stuck = plant.actor("llm-0")

    def hang_and_fail() -> None:
        client.leave()
        plant.run()
        plant.advance(5)
        assert stuck.actor_stopped.is_set()
        _bug()

    plant.mischief.plan("llm", hang_and_fail)
    client.ask()
    plant.run()
    restarts = snapshot(plant).restarts
    assert restarts == 2, "the LLM and the TTS behind it"
    assert can_serve(plant)
    assert snapshot(plant).restarts == restarts


def test_voice_detection_that_crashes_is_set_up_again_on_the_right_clock(
    plant: SteppedPlant,
) -> None:
    client = plant.visit("a")
    client.say(append(bytes(48 * 2000)))
    plant.run()
    plant.crash("vad-0")
    plant.run()
    client.say(append(bytes(48 * 1000) + loud(640)), append(bytes(48 * 1000)))
    plant.run()
    (started,) = [e for e in client.events if e["type"].endswith("speech_started")]
    (stopped,) = [e for e in client.events if e["type"].endswith("speech_stopped")]
    assert abs(started["audio_start_ms"] - (3000 - 300)) <= 32
    assert abs(stopped["audio_end_ms"] - (3640 + 500)) <= 64
    assert client.status == "completed"


def test_speech_that_voice_detection_crashed_in_is_not_left_open(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.say(append(bytes(48 * 320) + loud(640)))
    plant.run()
    assert client.types[-1].endswith("speech_started")
    plant.crash("vad-0")
    plant.run()
    client.say(append(bytes(48 * 2000)))  # and not a word more
    plant.run()
    assert sum(kind.endswith("speech_stopped") for kind in client.types) == 1
    assert client.status == "completed"


def test_speech_that_goes_on_after_such_a_crash_is_a_turn_of_its_own(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    client.say(append(bytes(48 * 320) + loud(640)))
    plant.run()
    plant.crash("vad-0")
    plant.run()
    client.say(append(loud(640) + bytes(48 * 1000)))
    plant.run()
    marks = [kind.rsplit("_", 1)[1] for kind in client.types if ".speech_" in kind]
    assert marks == ["started", "stopped"] * 2
    times_ms = [
        event["audio_start_ms" if "audio_start_ms" in event else "audio_end_ms"]
        for event in client.events
        if ".speech_" in event["type"]
    ]
    assert times_ms == sorted(times_ms)
    assert client.status == "completed"


# --- a unit that crashes -------------------------------------------------------------------------


def test_a_unit_that_crashes_takes_its_stages_with_it(plant: SteppedPlant) -> None:
    old = [plant.actor(f"{stage}-0") for stage in STAGES]
    plant.crash("unit-0")
    plant.run()
    assert all(actor.actor_stopped.is_set() for actor in old)
    assert len(plant.live) == 1 + 1 + len(STAGES)
    assert can_serve(plant)


def test_a_unit_that_crashes_cuts_off_what_still_works(plant: SteppedPlant) -> None:
    client = plant.visit("a")
    plant.wedged.add("llm-0")
    client.ask()
    plant.run()
    (work,) = [
        e.message for e in _waiting(plant.actor("llm-0")) if isinstance(e.message, m.Generate)
    ]
    plant.crash("unit-0")
    plant.wedged.clear()
    plant.run()
    assert work.cancel.cancelled
    assert plant.clock.pending == []


def test_a_unit_that_crashes_keeps_its_figures_and_counts_one_restart(plant: SteppedPlant) -> None:
    plant.crash("stt-0")
    plant.run()
    assert can_serve(plant)
    before = snapshot(plant)
    plant.clock.advance(5)
    plant.crash("unit-0")
    plant.run()
    after = snapshot(plant)
    assert (before.restarts, after.restarts) == (1, 2)
    assert (after.epoch, after.claimed_at) == (before.epoch, before.claimed_at)
    assert after.state == "idle"


def test_the_timings_have_the_defaults_that_the_documentation_names() -> None:
    assert astuple(UnitTimings()) == (120.0, 5.0, 3, 60.0)


def test_a_message_that_is_not_for_units_is_a_fault(plant: SteppedPlant) -> None:
    unit = plant.actor("unit-0")
    assert isinstance(unit, UnitActor)
    reply: ReplyPort[ClaimReply] = ReplyPort()
    with pytest.raises(TypeError):
        unit.handle(m.Claim("x", plant.client("x"), reply))


def _bug() -> None:
    raise RuntimeError("a bug")


def test_a_timer_of_another_session_does_not_disarm_the_deadline(plant: SteppedPlant) -> None:
    first = plant.visit("a")
    assert first.granted is not None
    old = first.granted.lease
    first.leave()
    plant.run()
    plant.visit("b")
    (pending,) = [m_ for m_ in plant.clock.pending if getattr(m_, "name", "") == "claim"]
    assert isinstance(pending, m.TimerFired)
    plant.actor("unit-0").outlet.put(m.TimerFired(old, "drain", pending.serial))
    plant.run()
    plant.advance(UnitTimings().claim_timeout_s)
    assert plant.state() == "idle"
