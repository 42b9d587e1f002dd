"""Turns: what the user says, from the first sound to the answer."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.protocol.listening import MAX_UTTERANCE_MS
from s2s_actors.protocol.outputs import ConfigureVad, Count, StartTranscription
from s2s_actors.protocol.session import SemanticVad, ServerVad
from tests.protocol.playing import Player, error_of, one, response_id_of, speech, types

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


# --- a turn -------------------------------------------------------------------------------


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


def test_speech_reaches_back_no_further_than_the_turn_before(player: Player) -> None:
    player.says(1000)
    player.append(speech(100))

    (started,) = player.starts(800)
    assert started["audio_start_ms"] == 1000


# --- interruption -------------------------------------------------------------------------


def test_speech_interrupts_the_answer(player: Player) -> None:
    response_id = response_id_of(player.hears(player.says(), "Hello."))
    player.writes(response_id, "I am ", "talking. And ")
    player.speaks(player.work.segments[0], speech(400, 1), last=False)

    events = player.starts()
    assert types(events)[0] == BUFFER + "speech_started"
    done = one(events, "response.done")["response"]
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}


def test_interrupt_response_false_lets_the_answer_go_on(player: Player) -> None:
    player.update_input(**server_vad(interrupt_response=False))
    first = response_id_of(player.hears(player.says(), "Hello."))
    player.writes(first, "I am talking.")
    second_item = player.says()
    assert types(player.hears(second_item, "And now?"))[-1] == TRANSCRIPTION + "completed"

    player.ends(first)
    events = player.speaks_all()
    assert one(events, "response.done")["response"]["status"] == "completed"
    second = response_id_of(events)
    assert second != first
    player.answers(second, "Now I answer.")
    player.finish()


def test_two_turns_during_one_answer_get_one_answer_together(player: Player) -> None:
    player.update_input(**server_vad(interrupt_response=False))
    first = response_id_of(player.hears(player.says(), "One."))
    player.hears(player.says(), "Two.")
    player.hears(player.says(), "Three.")
    events = player.answers(first, "Answer.")

    second = response_id_of(events)
    assert len(player.work.generations[second].items) == 4
    player.answers(second, "Both.")
    assert player.open_response is None
    player.finish()


def test_a_turn_that_is_talked_over_is_answered_with_the_next(player: Player) -> None:
    first = player.says()
    player.append(speech(100))
    player.starts()
    assert "response.created" not in types(player.hears(first, "I want to order"))
    player.append(speech(500))
    player.stops()
    (second,) = player.work.utterances

    events = player.hears(second, "a large pizza.")
    response_id = response_id_of(events)
    assert len(player.work.generations[response_id].items) == 2
    player.answers(response_id, "Sure.")
    player.finish()


def test_a_cough_after_a_question_does_not_cost_the_answer(player: Player) -> None:
    question = player.says()
    cough = player.says(200)
    player.hears(question, "What time is it?")
    events = player.hears(cough, "")

    player.answers(response_id_of(events), "Noon.")
    player.finish()


def test_a_cough_before_the_first_word_of_the_answer_does_not_cost_it(player: Player) -> None:
    first = response_id_of(player.hears(player.says(), "What time is it?"))
    cough = player.says(200)
    assert first not in player.checker.open_responses
    second = response_id_of(player.hears(cough, ""))

    player.answers(second, "Noon.")
    player.finish()


def test_a_cough_in_the_middle_of_the_answer_is_not_answered(player: Player) -> None:
    first = response_id_of(player.hears(player.says(), "What time is it?"))
    player.writes(first, "It is noon now. And ")
    player.speaks(player.work.segments[0], speech(500, 1), last=False)

    assert "response.created" not in types(player.hears(player.says(200), ""))
    player.finish()


def test_a_failed_transcript_does_not_cost_the_answer_to_what_was_said_before(
    player: Player,
) -> None:
    question = player.says()
    unclear = player.says(200)
    player.hears(question, "What time is it?")
    events = player.mishears(unclear)

    assert types(events)[0] == TRANSCRIPTION + "failed"
    player.answers(response_id_of(events), "Noon.")
    player.finish()


def test_clearing_what_talked_over_a_question_does_not_cost_its_answer(player: Player) -> None:
    question = player.says()
    player.append(speech(100))
    player.starts()
    player.hears(question, "What time is it?")
    events = player.send(BUFFER + "clear")

    player.answers(response_id_of(events), "Noon.")
    player.finish()


def test_a_question_that_is_transcribed_after_the_clear_is_answered(player: Player) -> None:
    question = player.says()
    player.append(speech(100))
    player.starts()
    player.send(BUFFER + "clear")
    events = player.hears(question, "What time is it?")

    player.answers(response_id_of(events), "Noon.")
    player.finish()


def test_transcripts_in_the_wrong_order_make_one_answer(player: Player) -> None:
    first, second = player.says(), player.says()
    response_id = response_id_of(player.hears(second, "a large pizza."))
    assert response_id not in player.work.generations
    assert "response.created" not in types(player.hears(first, "I want to order"))

    assert len(player.work.generations[response_id].items) == 2
    player.answers(response_id, "Sure.")
    assert "response.created" not in types(player.hears(player.says(), ""))
    player.finish()


def test_an_answer_that_the_client_asked_for_is_not_owed_any_more(player: Player) -> None:
    question = player.says()
    player.append(speech(200))
    player.starts()
    player.append(speech(200))
    player.hears(question, "What time is it?")
    player.send(BUFFER + "commit")
    (rest,) = player.work.utterances
    response_id = player.respond()
    player.hears(rest, "Please.")
    player.answers(response_id, "Noon.")

    assert "response.created" not in types(player.hears(player.says(200), ""))
    player.finish()


def test_words_said_while_an_answer_waits_belong_to_it(player: Player) -> None:
    player.update_input(**server_vad(interrupt_response=False))
    player.says()
    response_id = player.respond()
    (item_id,) = player.work.utterances
    player.hears(item_id, "Hello.")

    assert len(player.work.generations[response_id].items) == 1
    player.answers(response_id, "Hi.")
    assert player.open_response is None
    player.finish()


# --- manual turns -------------------------------------------------------------------------


def test_without_detection_only_a_commit_makes_a_turn(player: Player) -> None:
    player.update_input(turn_detection=None)
    assert player.append(speech(1000)) == []
    assert player.starts() == []
    assert player.stops() == []

    events = player.send(BUFFER + "commit")
    assert types(events) == [
        BUFFER + "committed",
        "conversation.item.added",
        "conversation.item.done",
    ]
    (item_id,) = player.work.utterances
    assert "response.created" not in types(player.hears(item_id, "Hello."))
    player.answers(player.respond(), "Hi.")
    player.finish()


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


@pytest.mark.parametrize("length_ms", [0, 1, 99])
def test_a_commit_of_too_little_audio_is_refused(player: Player, length_ms: int) -> None:
    player.append(speech(length_ms))

    error = error_of(player.send(BUFFER + "commit", event_id="e1"))
    assert error["code"] == "input_audio_buffer_commit_empty"
    assert error["event_id"] == "e1"
    assert f"buffer only has {length_ms}.00ms of audio" in error["message"]


def test_what_was_cleared_can_not_be_committed(player: Player) -> None:
    player.update_input(turn_detection=None)
    player.append(speech(1000))
    assert types(player.send(BUFFER + "clear")) == [BUFFER + "cleared"]

    assert error_of(player.send(BUFFER + "commit"))["code"] == "input_audio_buffer_commit_empty"


def test_clearing_an_empty_buffer_is_answered(player: Player) -> None:
    assert types(player.send(BUFFER + "clear")) == [BUFFER + "cleared"]


def test_a_commit_in_the_middle_of_speech_takes_the_turn(player: Player) -> None:
    player.append(speech(500))
    (started,) = player.starts(400)
    generation = player.work.generation
    player.append(speech(500))
    events = player.send(BUFFER + "commit")

    assert types(events)[0] == BUFFER + "committed"
    assert events[0]["item_id"] == started["item_id"]
    assert player.work.utterances[started["item_id"]].pcm == speech(600)
    assert player.work.generation > generation
    assert player.stops(generation=generation) == []
    assert "response.created" not in types(player.hears(started["item_id"], "Hello."))
    player.finish()


def test_a_clear_in_the_middle_of_speech_discards_the_turn(player: Player) -> None:
    player.append(speech(500))
    player.starts(400)
    generation = player.work.generation
    player.append(speech(500))
    events = player.send(BUFFER + "clear")

    assert types(events) == [BUFFER + "speech_stopped", BUFFER + "cleared"]
    assert player.stops(generation=generation) == []
    assert player.work.utterances == {}
    player.append(speech(500))
    (started,) = player.starts(900)
    assert started["audio_start_ms"] == 1000
    player.stops()
    player.hears(started["item_id"], "")
    player.finish()


# --- settings in the middle ---------------------------------------------------------------


def test_switching_detection_off_in_the_middle_of_speech_ends_it(player: Player) -> None:
    player.append(speech(500))
    player.starts(400)
    generation = player.work.generation
    events = player.update_input(turn_detection=None)

    assert types(events) == [BUFFER + "speech_stopped", "session.updated"]
    assert player.work.detection is None
    assert player.stops(generation=generation) == []
    player.append(speech(500))
    player.send(BUFFER + "commit")
    (work,) = player.work.utterances.values()
    assert work.pcm == speech(1000)


def test_speech_after_a_broken_off_utterance_does_not_reach_back_into_it(player: Player) -> None:
    player.append(speech(500))
    player.starts(400)
    player.update_input(turn_detection=None)
    player.update_input(**server_vad())

    (started,) = player.starts(200)
    assert started["audio_start_ms"] == 500


def test_nothing_is_owed_by_the_time_detection_comes_back(player: Player) -> None:
    question = player.says()
    player.append(speech(100))
    player.starts()
    player.hears(question, "What time is it?")
    player.update_input(turn_detection=None)
    player.update_input(**server_vad())

    assert "response.created" not in types(player.hears(player.says(), ""))
    player.finish()


def test_other_detection_settings_keep_the_utterance(player: Player) -> None:
    player.append(speech(500))
    (started,) = player.starts(400)
    generation = player.work.generation
    player.update_input(turn_detection={"type": "semantic_vad"})

    assert isinstance(player.work.detection, SemanticVad)
    assert player.work.generation == generation
    assert player.stops()[0]["item_id"] == started["item_id"]


def test_settings_that_stay_do_not_bother_voice_detection(player: Player) -> None:
    before = len(player.of(ConfigureVad))
    player.update_input(turn_detection={"type": "server_vad"})
    player.update(instructions="Be brief.")

    assert len(player.of(ConfigureVad)) == before


def test_transcription_switched_off_meanwhile_is_not_announced(player: Player) -> None:
    item_id = player.says()
    player.update_input(transcription=None)

    assert types(player.hears(item_id, "Hello.")) == ["response.created"]


def test_what_an_older_generation_says_is_stale(player: Player) -> None:
    player.append(speech(500))
    player.send(BUFFER + "clear")

    assert player.starts(generation=player.work.generation - 1) == []
    assert types(player.starts()) == [BUFFER + "speech_started"]
    assert player.stops(generation=player.work.generation - 1) == []
    assert player.starts() == []


# --- limits and losses --------------------------------------------------------------------


def test_endless_speech_is_committed_in_pieces(player: Player) -> None:
    player.append(speech(1000))
    player.starts()
    player.append(speech(MAX_UTTERANCE_MS))
    generation = player.work.generation
    events = player.append(speech(20))

    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    (work,) = player.work.utterances.values()
    assert len(work.pcm) == len(speech(MAX_UTTERANCE_MS + 20))
    assert player.work.generation > generation


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


def test_a_lost_vad_stage_commits_what_was_being_said(player: Player) -> None:
    player.append(speech(500))
    player.starts(400)
    generation = player.work.generation
    player.append(speech(500))
    events = player.loses("vad")

    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    assert player.work.generation > generation
    assert types(player.starts())[0] == BUFFER + "speech_started"


def test_a_lost_vad_stage_gets_its_settings_again(player: Player) -> None:
    before = len(player.of(ConfigureVad))
    assert player.loses("vad") == []

    assert len(player.of(ConfigureVad)) == before + 1
    assert isinstance(player.work.detection, ServerVad)


def test_a_client_can_not_take_the_id_of_speech_that_goes_on(player: Player) -> None:
    player.append(speech(500))
    (started,) = player.starts()
    item = {
        "type": "message",
        "role": "user",
        "id": started["item_id"],
        "content": [{"type": "input_text", "text": "Mine!"}],
    }
    error = error_of(player.send("conversation.item.create", item=item, event_id="e1"))

    assert (error["code"], error["param"]) == ("item_id_already_exists", "item.id")
    assert types(player.stops())[0] == BUFFER + "speech_stopped"


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


# --- idle timeout -------------------------------------------------------------------------


def test_the_idle_timer_starts_when_the_client_has_played_the_answer(player: Player) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    response_id = response_id_of(player.hears(player.says(), "Hello."))
    player.writes(response_id, "Hi there.")
    player.ends(response_id)
    assert "idle" not in player.work.timers
    player.speaks_all(1500)

    assert player.work.timers["idle"] == 7500


def test_the_idle_timeout_commits_the_silence_and_answers_it(player: Player) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.append(speech(8000))
    events = player.timer("idle")

    assert types(events) == [
        BUFFER + "timeout_triggered",
        BUFFER + "committed",
        "conversation.item.added",
        "conversation.item.done",
        TRANSCRIPTION + "completed",
        "response.created",
    ]
    assert (events[0]["audio_start_ms"], events[0]["audio_end_ms"]) == (3000, 9000)
    assert len({event["item_id"] for event in events if "item_id" in event}) == 1
    player.answers(response_id_of(events), "Still there?")
    assert "idle" in player.work.timers
    player.finish()


def test_speech_stops_the_idle_timer(player: Player) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.append(speech(100))
    player.starts()

    assert "idle" not in player.work.timers
    assert player.timer("idle") == []


def test_a_request_that_is_refused_leaves_the_idle_timer_running(player: Player) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    error_of(player.send("response.create", response={"metadata": {"k" * 65: "v"}}))
    assert "idle" in player.work.timers

    player.respond()
    assert "idle" not in player.work.timers


@pytest.mark.parametrize(
    "detection", [None, {"type": "semantic_vad"}, {"type": "server_vad", "idle_timeout_ms": None}]
)
def test_an_idle_timeout_that_was_switched_off_does_nothing(
    player: Player, detection: object
) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.update_input(turn_detection=detection)

    assert player.timer("idle") == []


def test_without_idle_timeout_no_timer_is_armed(player: Player) -> None:
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")

    assert set(player.work.timers) == {"session"}


def test_each_utterance_is_transcribed_once(player: Player) -> None:
    player.says()
    player.says()

    assert len({work.item_id for work in player.of(StartTranscription)}) == 2
