"""Words that can not be answered at once are answered once, together, and no later than that."""

from __future__ import annotations

from typing import Any

import pytest

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
    player.writes(first, "It is high noon just now. And ")
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


def test_nothing_is_owed_by_the_time_detection_comes_back(player: Player) -> None:
    question = player.says()
    player.append(speech(100))
    player.starts()
    player.hears(question, "What time is it?")
    player.update_input(turn_detection=None)
    player.update_input(**server_vad())

    assert "response.created" not in types(player.hears(player.says(), ""))
    player.finish()


def test_an_answer_that_falls_due_while_the_user_speaks_waits_for_the_rest(
    player: Player,
) -> None:
    player.update_input(**server_vad(interrupt_response=False))
    first = response_id_of(player.hears(player.says(), "One."))
    player.hears(player.says(), "Two.")
    player.append(speech(100))
    player.starts()
    events = player.answers(first, "Answer.")
    assert "response.created" not in types(events)
    player.append(speech(500))
    player.stops()
    (item_id,) = player.work.utterances

    second = response_id_of(player.hears(item_id, "Three."))
    assert len(player.work.generations[second].items) == 4
    player.answers(second, "All of it.")
    player.finish()


def test_a_turn_that_the_client_took_does_not_bring_an_answer(player: Player) -> None:
    question = player.says()
    player.append(speech(200))
    player.starts()
    player.append(speech(200))
    player.hears(question, "What time is it?")
    player.send("input_audio_buffer.commit")
    (rest,) = player.work.utterances

    # The client's own request is to come, and must not find an active response.
    assert "response.created" not in types(player.hears(rest, "Please."))
    player.answers(player.respond(), "Noon.")
    player.finish()


def test_nothing_is_answered_any_more_once_the_client_answers_itself(player: Player) -> None:
    question = player.says()
    player.append(speech(200))
    player.starts()
    player.hears(question, "What time is it?")
    player.update_input(**server_vad(create_response=False))

    assert "response.created" not in types(player.send("input_audio_buffer.clear"))
    player.finish()
