"""The clock of each turn: told once, whatever becomes of it, and only to those who ask."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s_actors.protocol.conduct import NATURAL
from s2s_actors.protocol.waterfall import WATERFALL, Waterfall
from tests.protocol.playing import NATURAL_START, START, Event, Player, one, response_id_of, speech

TRANSCRIPTION = "conversation.item.input_audio_transcription."
SENTENCE = "This is a whole sentence. And"


@pytest.fixture
def player() -> Player:
    """A session that does all it can and wants waterfalls; any speech interrupts it."""
    conduct = replace(NATURAL, weighs_interruptions=False)
    player = Player(replace(NATURAL_START, conduct=conduct))
    player.update(include=[WATERFALL], audio={"input": {"transcription": {"model": "whisper-1"}}})
    return player


def says(player: Player, *, pause_ms: int = 96, silence_ms: int = 500) -> str:
    """The user says something in real time, and is silent for so long; returns the guess."""
    player.append(speech(1000))
    player.starts()
    hears_silence(player, pause_ms)
    player.pauses(pause_ms)
    guess = list(player.work.utterances)[-1]
    hears_silence(player, silence_ms - pause_ms)
    return guess


def hears_silence(player: Player, ms: int) -> None:
    """Silence comes in real time."""
    player.append(speech(ms))
    player.waits(ms)


def stops(player: Player, silence_ms: int = 500) -> list[Event]:
    """Voice detection finds that the turn is over, of which the silence is known."""
    return player._do(
        lambda: player.dialogue.listening.detection.speech_stopped(
            player.now_ms, player.work.generation, player.now_ms - silence_ms
        )
    )


def steps(waterfall: Waterfall) -> dict[str, int]:
    """What took how long."""
    return {step.name: step.ms for step in waterfall.steps}


def told(player: Player) -> list[Event]:
    """What the client was told."""
    return [event for event in player.events if event["type"] == WATERFALL]


def test_the_wait_is_made_of_the_silence_and_of_each_stage_behind_it(player: Player) -> None:
    guess = says(player)
    stops(player)
    player.waits(100)
    response_id = response_id_of(player.hears(guess, "Hello?"))
    player.waits(70)
    player.writes(response_id, "This is a ")
    player.waits(50)
    player.writes(response_id, "whole sentence. And")
    player.waits(30)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)

    (waterfall,) = player.work.waterfalls
    assert steps(waterfall) == {
        "settling": 500,
        "recognizing": 100,
        "preparing": 0,
        "thinking": 70,
        "writing": 50,
        "voicing": 30,
    }
    assert waterfall.total_ms == 750
    assert waterfall.answered


def test_what_was_done_ahead_takes_no_time(player: Player) -> None:
    player.hears(says(player), "Hello?")
    (work_id,) = player.work.generations
    player.waits(40)
    player.append(speech(40))
    player.writes(work_id, SENTENCE)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    assert player.work.waterfalls == []
    stops(player, 540)

    (waterfall,) = player.work.waterfalls
    assert steps(waterfall)["settling"] == waterfall.total_ms == 540
    assert all(step.ahead for step in waterfall.steps[1:])
    assert waterfall.reason.endswith("; the answer was ready before")


def test_an_answer_that_is_there_at_once_is_told_behind_what_it_answers(player: Player) -> None:
    player.hears(says(player), "Hello?")
    (work_id,) = player.work.generations
    player.writes(work_id, SENTENCE)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    events = stops(player)

    event = one(events, WATERFALL)
    assert event["response_id"] == response_id_of(events)
    assert event["item_id"] == one(events, "input_audio_buffer.committed")["item_id"]
    kinds = [each["type"] for each in events]
    assert kinds.index(WATERFALL) > kinds.index("response.created")


def test_a_draft_that_was_of_no_use_took_no_time_off(player: Player) -> None:
    player.hears(says(player), "Hello?")
    (work_id,) = player.work.generations
    player.writes(work_id, SENTENCE)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    player.update(instructions="Be brief.")
    response_id = response_id_of(stops(player))
    assert player.work.waterfalls == []
    player.waits(200)
    player.writes(response_id, SENTENCE)
    player.waits(50)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)

    (waterfall,) = player.work.waterfalls
    assert steps(waterfall)["thinking"] == 200
    assert waterfall.total_ms == 750


def test_the_pause_before_the_last_words_is_not_part_of_the_wait(player: Player) -> None:
    guess = says(player)
    player.resumes()
    player.waits(3000)
    assert guess in player.work.stopped
    player.hears(says_on(player), "Hello there?")
    response_id = response_id_of(stops(player))
    player.answers(player.dialogue.answering._open.runs[response_id].work_id, SENTENCE)

    (waterfall,) = player.work.waterfalls
    assert waterfall.total_ms == 500


def says_on(player: Player) -> str:
    """More words, and another silence."""
    player.append(speech(1000))
    hears_silence(player, 96)
    player.pauses()
    hears_silence(player, 404)
    return list(player.work.utterances)[-1]


def test_a_pause_of_the_plain_protocol_is_not_part_of_the_wait_either() -> None:
    player = Player(START)
    player.starts()
    player.append(speech(1000))
    player.pauses()
    player.resumes()
    player.waits(5000)
    player.append(speech(1000))
    item_id = one(stops(player, 0), "input_audio_buffer.committed")["item_id"]
    player.answers(response_id_of(player.hears(item_id, "Hello?")), SENTENCE)

    assert [each.total_ms for each in player.work.waterfalls] == [0]


def test_an_answer_in_text_is_there_with_its_first_word(player: Player) -> None:
    player.update(output_modalities=["text"])
    player.hears(says(player), "Hello?")
    stops(player)
    (work_id,) = player.work.generations
    player.waits(60)
    player.writes(work_id, "Hi")

    (waterfall,) = player.work.waterfalls
    assert waterfall.total_ms == 560
    assert "voicing" not in steps(waterfall)


# --- turns without an answer ----------------------------------------------------------------


def reasons(player: Player) -> list[str]:
    """Why there was no answer, turn by turn."""
    assert all(
        each.total_ms == sum(step.ms for step in each.steps) for each in player.work.waterfalls
    )
    return [each.reason for each in player.work.waterfalls if not each.answered]


def test_noise_is_told_as_noise(player: Player) -> None:
    player.hears(says(player), "")
    stops(player)

    assert reasons(player) == ["no answer: only noise was heard"]


def test_a_turn_that_was_talked_over_is_told_as_such(player: Player) -> None:
    says(player)
    stops(player)
    player.waits(10)
    player.starts()

    (reason,) = reasons(player)
    assert reason.startswith("no answer: the user spoke on")


def test_a_cancelled_answer_is_told_as_such(player: Player) -> None:
    player.hears(says(player), "Hello?")
    stops(player)
    player.send("response.cancel")

    (reason,) = reasons(player)
    assert reason.startswith("no answer: it was cancelled")


def test_an_answer_that_is_cut_off_after_its_first_sound_was_one(player: Player) -> None:
    player.hears(says(player), "Hello?")
    stops(player)
    (work_id,) = player.work.generations
    player.writes(work_id, SENTENCE)
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    player.send("response.cancel")

    assert len(player.work.waterfalls) == 1
    assert reasons(player) == []


@pytest.mark.parametrize("stage", ["stt", "llm", "tts"])
def test_a_failure_is_told_as_such(player: Player, stage: str) -> None:
    guess = says(player)
    if stage != "stt":
        player.hears(guess, "Hello?")
    stops(player)
    player.loses(stage)

    (reason,) = reasons(player)
    assert reason.startswith("no answer: a model failed")


def test_an_empty_answer_is_told_as_such(player: Player) -> None:
    player.hears(says(player), "Hello?")
    stops(player)
    player.ends(next(iter(player.work.generations)))

    (reason,) = reasons(player)
    assert "nothing to say" in reason


def test_a_turn_that_stopped_an_answer_for_nothing_wanted_none(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, SENTENCE)
    player.ends(response_id)
    player.speaks(player.work.segments[0], speech(4000, 1))
    player.waits(200)
    player.hears(says(player), "Yeah.")
    stops(player)

    assert reasons(player) == ["no answer: none was wanted"]
    player.speaks_all()
    player.waits(60_000)
    player.answers(player.respond(), SENTENCE)
    assert len(player.work.waterfalls) == 1


def test_a_turn_that_waits_for_another_answer_waits_for_that(player: Player) -> None:
    detection = {"type": "server_vad", "interrupt_response": False}
    player.update_input(turn_detection=detection)
    first = player.respond()
    player.hears(says(player), "Hello?")
    stops(player)
    player.waits(1000)
    events = player.answers(first, SENTENCE)
    player.answers(response_id_of(events), SENTENCE)

    (waterfall,) = player.work.waterfalls
    assert steps(waterfall)["preparing"] == 1000


def test_each_of_two_turns_that_are_answered_together_is_told(player: Player) -> None:
    detection = {"type": "server_vad", "interrupt_response": False}
    player.update_input(turn_detection=detection)
    first = player.respond()
    for text in ("Hello?", "Anyone?"):
        player.hears(says(player), text)
        stops(player)
    events = player.answers(first, SENTENCE)
    player.answers(response_id_of(events), SENTENCE)

    assert len(player.work.waterfalls) == 2
    assert [each.answered for each in player.work.waterfalls] == [False, True]


def test_a_turn_that_the_client_answers_is_told_as_well(player: Player) -> None:
    player.update_input(turn_detection={"type": "server_vad", "create_response": False})
    player.hears(says(player), "Hello?")
    stops(player)
    player.waits(250)
    player.answers(player.respond(), SENTENCE)

    (waterfall,) = player.work.waterfalls
    assert steps(waterfall)["preparing"] == 250


def test_a_turn_that_the_client_commits_begins_with_the_commit(player: Player) -> None:
    player.update_input(turn_detection=None)
    player.append(speech(1000))
    player.send("input_audio_buffer.commit")
    player.waits(100)
    player.hears(next(iter(player.work.utterances)), "Hello?")
    player.answers(player.respond(), SENTENCE)

    (waterfall,) = player.work.waterfalls
    assert (steps(waterfall)["settling"], waterfall.total_ms) == (0, 100)


# --- who is told ----------------------------------------------------------------------------


def test_the_client_is_told_once_what_it_asked_for(player: Player) -> None:
    player.hears(says(player), "Hello?")
    events = stops(player)
    (work_id,) = player.work.generations
    player.answers(work_id, SENTENCE, SENTENCE)

    (event,) = told(player)
    assert event["response_id"] == response_id_of(events)
    assert event["total_ms"] == sum(step["ms"] for step in event["steps"]) == 500


def test_the_client_is_told_why_there_is_no_answer(player: Player) -> None:
    player.hears(says(player), "")
    stops(player)

    (event,) = told(player)
    assert event["reason"] == "no answer: only noise was heard"
    assert "response_id" not in event


def test_who_has_not_asked_is_not_told(player: Player) -> None:
    player.update(include=None)
    player.hears(says(player), "Hello?")
    stops(player)
    player.answers(next(iter(player.work.generations)), SENTENCE)

    assert told(player) == []
    assert len(player.work.waterfalls) == 1


def test_a_text_that_is_answered_is_no_turn(player: Player) -> None:
    player.create_text("Hello?")
    player.answers(player.respond(), SENTENCE)

    assert player.work.waterfalls == []
