"""The assistant's side: one response at a time, each ends once, nothing comes late."""

from __future__ import annotations

import pytest

from tests.protocol.playing import Player, error_of, one, response_id_of, speech, types

CANCEL = "response.cancel"


@pytest.fixture
def player() -> Player:
    return Player()


def test_a_second_response_is_refused_while_one_is_open(player: Player) -> None:
    first = player.respond()
    error = error_of(player.send("response.create", event_id="e2"))

    assert error["code"] == "conversation_already_has_active_response"
    assert error["message"] == (
        f"Conversation already has an active response in progress: {first}. "
        "Wait until the response is finished before creating a new one."
    )
    assert error["event_id"] == "e2"
    player.answers(first, "Unharmed.")
    player.finish()


def test_a_refused_response_changes_nothing_of_a_response_to_speech(player: Player) -> None:
    first = response_id_of(player.hears(player.says(), "Hello."))
    error_of(player.send("response.create", event_id="e2"))

    done = one(player.answers(first, "Hi."), "response.done")["response"]
    assert (done["id"], done["status"]) == (first, "completed")
    player.finish()


def test_cancel_and_create_in_one_breath_work(player: Player) -> None:
    first = player.respond()
    player.writes(first, "A very long story. And ")
    cancelled = player.send(CANCEL)
    second = player.respond()

    assert one(cancelled, "response.done")["response"]["id"] == first
    assert second != first
    player.answers(second, "Short.")
    player.finish()


@pytest.mark.parametrize("fields", [{}, {"response_id": None}, {"response_id": "resp_x"}])
def test_a_cancel_without_an_active_response_is_refused(
    player: Player, fields: dict[str, object]
) -> None:
    for number in range(3):
        error = error_of(player.send(CANCEL, event_id=f"e{number}", **fields))
        assert error["code"] == "response_cancel_not_active"
        assert error["message"] == "Cancellation failed: no active response found."
        assert error["event_id"] == f"e{number}"
    player.answers(player.respond(), "Full answer.")
    player.finish()


def test_a_cancel_by_the_id_of_a_response_that_is_over_spares_the_next(player: Player) -> None:
    first = player.respond()
    player.answers(first, "Done.")
    second = player.respond()

    assert error_of(player.send(CANCEL, response_id=first))["code"] == "response_cancel_not_active"
    player.answers(second, "Unharmed.")
    player.finish()


def test_a_cancel_without_an_id_spares_what_is_beside_the_conversation(player: Player) -> None:
    beside = player.respond(conversation="none")
    inside = player.respond()
    events = player.send(CANCEL)

    assert one(events, "response.done")["response"]["id"] == inside
    assert player.checker.open_responses == [beside]
    assert error_of(player.send(CANCEL))["code"] == "response_cancel_not_active"
    events = player.send(CANCEL, response_id=beside)
    assert one(events, "response.done")["response"]["id"] == beside
    player.finish()


def test_any_number_runs_beside_the_conversation(player: Player) -> None:
    inside = player.respond()
    beside = [player.respond(conversation="none") for _ in range(5)]
    for response_id in (*beside, inside):
        player.writes(response_id, f"I am {response_id}. ")
    for response_id in reversed(beside):
        player.ends(response_id)
    player.ends(inside)
    player.speaks_all()

    assert len(player.items()) == 1
    player.finish()


def test_speech_does_not_interrupt_what_is_beside_the_conversation(player: Player) -> None:
    beside = player.respond(conversation="none")
    inside = player.respond()
    events = player.starts()

    assert one(events, "response.done")["response"]["id"] == inside
    player.append(speech(500))
    player.stops()
    (item_id,) = player.work.utterances
    answer = response_id_of(player.hears(item_id, "Hello."))
    player.answers(beside, "Still here.")
    player.answers(answer, "Hi.")
    player.finish()


def test_nothing_reaches_a_response_that_is_over(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Hello there, everyone. And ")
    (segment,) = player.work.segments
    player.send(CANCEL)

    assert player.writes(response_id, "Late.") == []
    assert player.calls(response_id, "call_1", "late", "{}") == []
    assert player.ends(response_id) == []
    assert player.fails(response_id) == []
    assert player.speaks(segment, speech(100)) == []
    assert player.speaks(segment, last=True) == []
    player.finish()


def test_speech_of_one_response_never_goes_to_the_next(player: Player) -> None:
    first = player.respond()
    player.writes(first, "Hello there, everyone. And ")
    (stale,) = player.work.segments
    player.send(CANCEL)
    second = player.respond()
    player.writes(second, "These are other words. And ")

    assert player.speaks(stale, speech(100)) == []
    (fresh,) = player.work.segments
    events = player.speaks(fresh, speech(100))
    assert {event["response_id"] for event in events} == {second}


def test_a_segment_is_spoken_once(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Hello there, everyone. And ")
    (segment,) = player.work.segments
    player.speaks(segment, speech(100))

    assert player.speaks(segment, speech(100)) == []


def test_work_is_stopped_when_a_response_ends(player: Player) -> None:
    cancelled = player.respond()
    player.send(CANCEL)
    failed = player.respond()
    player.fails(failed)
    completed = player.respond()
    player.answers(completed, "Hi.")

    assert player.work.stopped == {cancelled, failed, completed}


@pytest.mark.parametrize("stage", ["llm", "tts"])
def test_a_lost_stage_fails_what_it_was_doing(player: Player, stage: str) -> None:
    inside, beside = player.respond(), player.respond(conversation="none")
    player.writes(inside, "Hello")
    events = player.loses(stage)

    done = [event["response"] for event in events if event["type"] == "response.done"]
    assert [(response["id"], response["status"]) for response in done] == [
        (inside, "failed"),
        (beside, "failed"),
    ]
    assert done[0]["status_details"]["error"]["code"] == "stage_failed"
    player.answers(player.respond(), "Next.")
    player.finish()


def test_a_cancel_while_the_transcript_is_pending_leaves_the_transcript_alone(
    player: Player,
) -> None:
    player.update_input(
        transcription={}, turn_detection={"type": "server_vad", "create_response": False}
    )
    item_id = player.says()
    player.respond()
    player.send(CANCEL)
    events = player.hears(item_id, "Hello.")

    assert types(events)[-1] == "conversation.item.input_audio_transcription.completed"
    player.finish()


def test_twenty_interruptions_leave_nothing_behind(player: Player) -> None:
    for number in range(20):
        response_id = response_id_of(player.hears(player.says(), f"Question {number}."))
        if number % 2:
            player.writes(response_id, "This is a long answer. And ")
        if number % 4 == 3:
            player.speaks(player.work.segments[0], speech(200), last=False)
    player.answers(response_id_of(player.hears(player.says(), "The last one.")), "Done.")
    player.finish()
