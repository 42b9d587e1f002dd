"""Committed turns: one transcript or one failure each, and an answer if one is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.protocol.outputs import Count, StartTranscription
from tests.protocol.playing import Player, one, response_id_of, speech, types

BUFFER = "input_audio_buffer."
TRANSCRIPTION = "conversation.item.input_audio_transcription."


@pytest.fixture
def player() -> Player:
    """A session that transcribes."""
    player = Player()
    player.update_input(transcription={"model": "whisper-1"})
    return player


def server_vad(**settings: Any) -> dict[str, Any]:
    return {"turn_detection": {"type": "server_vad", **settings}}


def test_a_turn_is_heard_committed_transcribed_and_answered(player: Player) -> None:
    player.append(speech(2000))
    started = player.starts(700)
    player.append(speech(1000, 3))
    stopped = player.stops(3000)
    item_id = started[0]["item_id"]

    assert types(started) == [BUFFER + "speech_started"]
    assert started[0]["audio_start_ms"] == 700
    assert types(stopped) == [
        BUFFER + "speech_stopped",
        BUFFER + "committed",
        "conversation.item.added",
        "conversation.item.done",
    ]
    assert stopped[0]["audio_end_ms"] == 3000
    assert all(
        item_id == (event.get("item_id") or event["item"]["id"]) for event in started + stopped
    )
    assert stopped[1]["previous_item_id"] is None
    assert stopped[2]["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    work = player.work.utterances[item_id]
    assert work.pcm == speech(1300) + speech(1000, 3)

    heard = player.hears(item_id, " Hello there. ")
    assert types(heard) == [
        TRANSCRIPTION + "delta",
        TRANSCRIPTION + "completed",
        "response.created",
    ]
    assert heard[1]["transcript"] == "Hello there."
    assert heard[1]["usage"] == {"type": "duration", "seconds": 2.3}
    generation = player.work.generations[response_id_of(heard)]
    assert player.items()[0]["content"][0]["transcript"] == "Hello there."
    assert [item.id for item in generation.items] == [item_id]

    player.answers(generation.response_id, "Hi.")
    player.finish()


def test_without_transcription_the_turn_is_answered_all_the_same() -> None:
    player = Player()
    events = player.hears(player.says(), "Hello.")

    assert types(events) == ["response.created"]
    player.answers(response_id_of(events), "Hi.")
    player.finish()


def test_language_and_prompt_reach_speech_recognition(player: Player) -> None:
    player.update_input(transcription={"language": "fr", "prompt": "Paris"})
    work = player.work.utterances[player.says()]

    assert (work.language, work.prompt) == ("fr", "Paris")


def test_the_audio_of_a_turn_is_counted(player: Player) -> None:
    player.says(1500)

    assert [count.audio_input_ms for count in player.of(Count)] == [1500]


def test_create_response_false_leaves_the_answer_to_the_client(player: Player) -> None:
    player.update_input(**server_vad(create_response=False))
    events = player.hears(player.says(), "Hello.")

    assert types(events) == [TRANSCRIPTION + "delta", TRANSCRIPTION + "completed"]
    player.answers(player.respond(), "Hi.")
    player.finish()


def test_noise_is_not_answered(player: Player) -> None:
    events = player.hears(player.says(), "  ")

    assert types(events) == [TRANSCRIPTION + "completed"]
    assert events[0]["transcript"] == ""
    player.finish()


def test_a_transcript_comes_once(player: Player) -> None:
    item_id = player.says()
    player.hears(item_id, "Hello.")

    assert player.hears(item_id, "Hello again.") == []
    assert player.mishears(item_id) == []
    assert player.hears("item_of_nobody", "Boo.") == []


def test_a_response_waits_for_the_transcript_of_what_was_committed(player: Player) -> None:
    player.update_input(turn_detection=None)
    player.append(speech(1000))
    player.send(BUFFER + "commit")
    response_id = player.respond()
    assert response_id not in player.work.generations

    (item_id,) = player.work.utterances
    player.hears(item_id, "Hello.")
    assert response_id in player.work.generations
    player.answers(response_id, "Hi.")
    player.finish()


def test_a_response_does_not_wait_for_ever_when_the_transcript_fails(player: Player) -> None:
    player.says()
    response_id = player.respond()
    (item_id,) = player.work.utterances
    player.mishears(item_id)

    assert response_id in player.work.generations


def test_transcription_switched_off_meanwhile_is_not_announced(player: Player) -> None:
    item_id = player.says()
    player.update_input(transcription=None)

    assert types(player.hears(item_id, "Hello.")) == ["response.created"]


def test_failed_recognition_is_told_and_the_next_turn_works(player: Player) -> None:
    events = player.mishears(player.says())

    assert types(events) == [TRANSCRIPTION + "failed"]
    assert events[0]["error"] == {"type": "server_error", "code": "stt_failed", "message": "No."}
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.finish()


def test_without_transcription_events_failed_recognition_fails_the_answer() -> None:
    player = Player()
    events = player.mishears(player.says())

    assert types(events) == ["response.created", "response.done", "rate_limits.updated"]
    response = events[1]["response"]
    assert response["status"] == "failed"
    assert response["status_details"]["error"]["code"] == "stt_failed"
    player.finish()


def test_failed_recognition_does_not_touch_out_of_band_responses() -> None:
    player = Player()
    beside = player.respond(conversation="none")
    player.mishears(player.says())

    assert player.checker.open_responses == [beside]
    player.answers(beside, "Still here.")
    player.finish()


def test_failed_recognition_of_what_was_talked_over_is_no_answer() -> None:
    player = Player()
    first = player.says()
    player.append(speech(100))
    player.starts()

    assert player.mishears(first) == []


def test_a_lost_stt_stage_fails_every_utterance_once(player: Player) -> None:
    first, second = player.says(), player.says()
    events = player.loses("stt")

    failed = [event["item_id"] for event in events if event["type"] == TRANSCRIPTION + "failed"]
    assert failed == [first, second]
    assert player.hears(first, "Late.") == []
    player.finish()


def test_a_transcript_leaves_a_client_item_with_the_same_id_alone(player: Player) -> None:
    item_id = player.says()
    player.send("conversation.item.delete", item_id=item_id)
    content = [{"type": "input_text", "text": "Mine."}]
    item = {"type": "message", "role": "user", "id": item_id, "content": content}
    player.send("conversation.item.create", item=item)
    player.hears(item_id, "Not mine.")

    assert player.items()[0]["content"] == content


def test_an_item_deleted_while_it_is_transcribed_is_transcribed_all_the_same(
    player: Player,
) -> None:
    item_id = player.says()
    player.send("conversation.item.delete", item_id=item_id)
    events = player.hears(item_id, "Hello.")

    assert one(events, TRANSCRIPTION + "completed")["transcript"] == "Hello."
    player.answers(response_id_of(events), "Hi.")
    player.finish()


def test_each_utterance_is_transcribed_once(player: Player) -> None:
    player.says()
    player.says()

    assert len({work.voice_id for work in player.of(StartTranscription)}) == 2
