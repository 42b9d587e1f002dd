"""Whole sequences of the protocol, event by event."""

from __future__ import annotations

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol.client_events import AudioAppend
from tests.protocol.playing import (
    Player,
    error_of,
    one,
    response_id_of,
    speech,
    types,
    user_text,
)

R = "response."
ITEM = "conversation.item."
BUFFER = "input_audio_buffer."
TRANSCRIPTION = ITEM + "input_audio_transcription."


@pytest.fixture
def player() -> Player:
    return Player()


def test_a_spoken_turn(player: Player) -> None:
    player.update_input(transcription={"model": "whisper-1"})
    before = len(player.events)
    player.append(speech(500))
    player.starts(200)
    player.append(speech(1000))
    player.stops()
    (item_id,) = player.work.utterances
    response_id = response_id_of(player.hears(item_id, "Hello."))
    player.writes(response_id, "Hi ", "there.")
    player.ends(response_id)
    player.speaks_all(200)

    events = player.events[before:]
    assert types(events) == [
        BUFFER + "speech_started",
        BUFFER + "speech_stopped",
        BUFFER + "committed",
        ITEM + "added",
        ITEM + "done",
        TRANSCRIPTION + "delta",
        TRANSCRIPTION + "completed",
        R + "created",
        R + "output_item.added",
        ITEM + "added",
        R + "content_part.added",
        R + "output_audio_transcript.delta",
        R + "output_audio_transcript.delta",
        R + "output_audio.delta",
        R + "output_audio.done",
        R + "output_audio_transcript.done",
        R + "content_part.done",
        ITEM + "done",
        R + "output_item.done",
        R + "done",
        "rate_limits.updated",
    ]
    answer = one(events, R + "output_item.added")["item"]["id"]
    added = [event for event in events if event["type"] == ITEM + "added"]
    assert [(event["item"]["id"], event["previous_item_id"]) for event in added] == [
        (item_id, None),
        (answer, item_id),
    ]
    player.finish()


def test_a_manual_turn(player: Player) -> None:
    player.update_input(turn_detection=None, transcription={})
    before = len(player.events)
    player.append(speech(1000))
    player.send(BUFFER + "commit")
    (item_id,) = player.work.utterances
    player.hears(item_id, "Hello.")

    assert types(player.events[before:]) == [
        BUFFER + "committed",
        ITEM + "added",
        ITEM + "done",
        TRANSCRIPTION + "delta",
        TRANSCRIPTION + "completed",
    ]
    player.answers(player.respond(), "Hi.")
    player.finish()


def test_a_function_call_and_its_output(player: Player) -> None:
    player.update(tools=[{"type": "function", "name": "look"}])
    player.create_text("What is there?")
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", '{"at": "it"}')
    done = one(player.ends(response_id), R + "done")["response"]
    assert [item["type"] for item in done["output"]] == ["function_call"]
    output = {"type": "function_call_output", "call_id": "call_1", "output": "a cat"}
    assert types(player.send(ITEM + "create", item=output)) == [ITEM + "added", ITEM + "done"]
    assert player.open_response is None

    second = player.respond()
    kinds = [type(item).__name__ for item in player.work.generations[second].items]
    assert kinds == ["Message", "FunctionCall", "FunctionCallOutput"]
    player.answers(second, "A cat.")
    player.finish()


def test_a_barge_in(player: Player) -> None:
    player.update_input(transcription={})
    response_id = response_id_of(player.hears(player.says(), "Tell me a story."))
    player.writes(response_id, "Once upon a time there was a cat. And ")
    player.speaks(player.work.segments[0], speech(900, 1), last=False)
    events = player.starts()

    assert types(events) == [
        BUFFER + "speech_started",
        R + "output_audio.done",
        R + "output_audio_transcript.done",
        R + "content_part.done",
        ITEM + "done",
        R + "output_item.done",
        R + "done",
        "rate_limits.updated",
    ]
    done = one(events, R + "done")["response"]
    assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    item_id = done["output"][0]["id"]
    events = player.send(ITEM + "truncate", item_id=item_id, content_index=0, audio_end_ms=500)
    assert types(events) == [ITEM + "truncated"]
    assert types(player.send(ITEM + "retrieve", item_id=item_id)) == [ITEM + "retrieved"]
    player.append(speech(800))
    assert types(player.stops())[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    (question,) = player.work.utterances
    second = response_id_of(player.hears(question, "Shorter."))
    said = str(player.work.generations[second].items)
    assert "Once" in said
    assert "cat" not in said
    player.answers(second, "No.")
    player.finish()


def test_a_truncation_after_the_answer_is_complete(player: Player) -> None:
    events = player.answers(player.respond(), "One two three four.")
    item_id = one(events, R + "done")["response"]["output"][0]["id"]
    player.starts()

    assert types(
        player.send(ITEM + "truncate", item_id=item_id, content_index=0, audio_end_ms=250)
    ) == [ITEM + "truncated"]


def test_an_out_of_band_response_during_another_one(player: Player) -> None:
    inside = player.respond()
    player.writes(inside, "I am talking. And ")
    beside = player.respond(
        conversation="none",
        input=[user_text("Is this a question?")],
        output_modalities=["text"],
        metadata={"topic": "classification"},
    )
    player.answers(beside, "Yes.")
    player.ends(inside)
    player.speaks_all()
    following = player.respond()

    assert "Yes." not in str(player.work.generations[following].items)
    player.answers(following, "Next.")
    player.finish()


def test_the_error_of_an_unknown_event_names_it(player: Player) -> None:
    error = error_of(player.send("scooby.dooby.doo", event_id="my_awesome_event"))

    assert error["type"] == "invalid_request_error"
    assert (error["code"], error["param"]) == ("invalid_value", "type")
    assert error["event_id"] == "my_awesome_event"


def test_clearing_the_output_belongs_to_other_transports(player: Player) -> None:
    error = error_of(player.send("output_audio_buffer.clear", event_id="e1"))

    assert (error["code"], error["event_id"]) == ("invalid_value", "e1")


def test_a_session_ends_when_its_time_is_over(player: Player) -> None:
    player.respond()
    (event,) = player.timer("session")

    assert event["error"]["code"] == "session_expired"
    assert event["error"]["message"] == ("Your session hit the maximum duration of 60 minutes.")
    assert player.work.hung_up is not None
    assert player.work.hung_up.close_code == 1001
    assert player.work.hung_up.reason == event["error"]["message"]
    player.finish(cut=True)


def test_a_timer_that_nobody_armed_does_nothing(player: Player) -> None:
    assert player.timer("tea") == []


def test_an_append_is_not_answered(player: Player) -> None:
    assert player.append(speech(100)) == []


def test_audio_for_voice_detection_is_told_before_it_is_taken(player: Player) -> None:
    player.append(b"x")

    data = player.dialogue.audio_of(AudioAppend(audio="eXp6"))
    assert player.dialogue.listening.buffer.whole_samples(data) == b"xyzz"
    assert player.now_ms == 0
    with pytest.raises(ClientError, match="base64"):
        player.dialogue.audio_of(AudioAppend(audio="!!!"))
