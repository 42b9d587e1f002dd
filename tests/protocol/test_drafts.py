"""Answers that are begun in a pause, where nobody can see them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.protocol.items import InputAudio, Message
from s2s_actors.protocol.outputs import (
    Count,
    StartGeneration,
    StartMcpCall,
    StartSpeech,
    StartTranscription,
)
from tests.protocol.playing import (
    NATURAL_START,
    START,
    Event,
    Player,
    one,
    response_id_of,
    speech,
    types,
    user_text,
)
from tests.protocol.test_mcp import WEATHER, McpPlayer, server

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.items import Item

ANSWER = "This is a whole sentence. And here is another one."


@pytest.fixture
def player() -> Player:
    """A session that does all it can, and transcribes."""
    player = Player(NATURAL_START)
    player.update_input(transcription={"model": "whisper-1"})
    return player


def pauses(player: Player) -> str:
    """The user says something and pauses; returns the guess at it."""
    player.append(speech(300))
    player.starts()
    player.append(speech(1200))
    player.pauses()
    (voice_id,) = player.work.utterances
    return voice_id


def drafts(player: Player, text: str = "How are you?") -> str:
    """The user says something, pauses and is understood; returns the draft of the answer."""
    player.hears(pauses(player), text)
    (work_id,) = player.work.generations
    return work_id


def item_text(item: Item) -> str | None:
    """What a message of the user says."""
    assert isinstance(item, Message)
    (part,) = item.content
    return part.transcript if isinstance(part, InputAudio) else getattr(part, "text", None)


def wasted(player: Player) -> tuple[int, int]:
    """Tokens read and written for drafts that nobody saw."""
    counts = player.of(Count)
    return (
        sum(count.speculative_input_tokens for count in counts),
        sum(count.speculative_output_tokens for count in counts),
    )


# --- what is done in the pause ------------------------------------------------------------


def test_a_pause_has_what_was_said_so_far_transcribed_on_a_guess(player: Player) -> None:
    work = player.work.utterances[pauses(player)]

    assert work.speculative
    assert work.pcm == speech(1200)


def test_the_draft_is_asked_for_as_the_answer_will_be_but_on_a_guess(player: Player) -> None:
    player.create_text("Before.")
    request = player.work.generations[drafts(player)]

    assert request.speculative
    assert request.instructions == "Be kind."
    assert [item_text(item) for item in request.items] == ["Before.", "How are you?"]


def test_only_the_beginning_of_a_draft_is_spoken(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER, " And so on and on and on, for a long while. Really.")
    player.ends(work_id)

    assert [each.segment for each in player.work.segments] == [0]
    assert ANSWER.startswith(player.work.segments[0].text)


def test_nothing_of_a_draft_is_seen(player: Player) -> None:
    before = player.events.copy()
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.speaks(player.work.segments[0], speech(900, 1))
    player.calls(work_id, "call_1", "look", "{}")
    player.ends(work_id)

    seen = types(player.events[len(before) :])
    assert seen == ["input_audio_buffer.speech_started"]
    assert player.items() == []
    assert player.of(Count) == []


# --- the guess was right --------------------------------------------------------------------


def test_at_the_end_of_the_turn_the_draft_is_there_at_once(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, "This is a whole ", "sentence. And")
    player.speaks(player.work.segments[0], speech(300, 1), last=False)
    events = player.stops()

    assert types(events) == [
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.delta",
    ]
    assert work_id in player.work.committed


def test_the_work_on_a_draft_goes_on_as_the_work_on_the_answer(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.stops()
    player.writes(work_id, " The end of it comes later.")
    player.ends(work_id, read=20, written=12)
    player.speaks_all()

    assert len(player.of(StartGeneration)) == 1
    assert player.work.stopped == {work_id}  # which is what ends any response
    response = one(player.events, "response.done")["response"]
    assert response["status"] == "completed"
    (message,) = response["output"]
    assert message["content"][0]["transcript"] == ANSWER + " The end of it comes later."
    assert (response["usage"]["input_tokens"], wasted(player)) == (20, (0, 0))
    player.finish()


def test_no_segment_is_spoken_twice_or_left_out(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    first = player.work.segments[0]
    player.speaks(first, speech(400, 1), last=False)
    player.stops()
    player.ends(work_id)
    player.speaks(first, speech(400, 1))
    player.speaks_all()

    assert [each.segment for each in player.of(StartSpeech)] == [0, 1]
    one(player.events, "response.done")


@pytest.mark.parametrize("modality", ["audio", "text"])
def test_a_draft_that_is_complete_is_a_complete_answer_at_once(
    player: Player, modality: str
) -> None:
    player.update(output_modalities=[modality])
    work_id = drafts(player)
    player.writes(work_id, "It is all one sentence.")
    player.ends(work_id)
    player.speaks_all()
    events = player.stops()

    done = one(events, "response.done")["response"]
    assert done["status"] == "completed"
    assert done["usage"]["output_token_details"]["text_tokens"] == 5
    assert types(events)[-2:] == ["response.done", "rate_limits.updated"]
    player.finish()


def test_a_draft_in_text_asks_no_voice(player: Player) -> None:
    player.update(output_modalities=["text"])
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.ends(work_id)

    assert player.work.segments == []


def test_a_function_that_a_draft_calls_is_called_at_the_end_of_the_turn(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, "Let me look that up. ")
    player.calls(work_id, "call_1", "look", '{"a":', "1}")
    player.ends(work_id)
    events = player.stops()
    events += player.speaks_all()

    call = one(events, "response.function_call_arguments.done")
    assert (call["call_id"], call["arguments"]) == ("call_1", '{"a":1}')
    assert [item["type"] for item in player.items()] == ["message", "message", "function_call"]
    player.finish()


def test_the_words_before_a_call_in_a_draft_are_spoken_ahead(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, "Just a moment")
    assert player.work.segments == []
    player.calls(work_id, "call_1", "look", "{}")

    assert [each.text for each in player.work.segments] == ["Just a moment"]


def test_a_tool_of_a_server_that_a_draft_calls_runs_only_when_the_turn_is_over() -> None:
    player = McpPlayer(NATURAL_START)
    player.offers(server(), found=(WEATHER,))
    work_id = drafts(player)
    player.calls(work_id, "call_1", "weather", '{"city":"Rome"}')
    player.ends(work_id)
    assert player.of(StartMcpCall) == []
    player.stops()

    assert player.call.arguments == {"city": "Rome"}
    player.returns(player.call.item_id, "Sunny.")
    player.finish()


# --- the same turn with and without drafts --------------------------------------------------


def test_a_tool_that_an_adopted_draft_runs_is_stopped_with_its_answer() -> None:
    player = McpPlayer(NATURAL_START)
    player.offers(server(), found=(WEATHER,))
    work_id = drafts(player)
    player.calls(work_id, "call_1", "weather", '{"city":"Rome"}')
    player.ends(work_id)
    player.append(speech(400))
    player.stops()
    player.send("response.cancel")

    assert player.call.response_id in player.work.stopped


def says_it(player: Player) -> None:
    """The answer comes in pieces of text, a call, and two segments of speech."""
    (work_id,) = player.work.generations
    player.writes(work_id, "  ", "This is a whole ", "sentence. And", " here is another one. ")
    player.calls(work_id, "call_1", "look", "{", "}")
    player.writes(work_id, "After the call there is more to say.")
    player.ends(work_id)


def blind(events: list[Event]) -> list[Any]:
    """Events without what differs between any two sessions: ids, in order of appearance."""
    names: dict[str, str] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, str) and value.partition("_")[0] in ("item", "resp", "event", "conv"):
            return names.setdefault(value, f"{value.partition('_')[0]} {len(names)}")
        return value

    return [plain(event) for event in events]


@pytest.mark.parametrize("modality", ["audio", "text"])
def test_a_draft_changes_no_event_of_the_turn(modality: str) -> None:
    played: list[list[Any]] = []
    for drafts_ahead in (False, True):
        player = Player(NATURAL_START)
        player.is_busy(not drafts_ahead)
        player.update(output_modalities=[modality])
        player.append(speech(300))
        player.starts()
        player.append(speech(1200))
        player.pauses()
        if drafts_ahead:
            player.hears(next(iter(player.work.utterances)), "How are you?")
            says_it(player)
            player.speaks_all()
        player.append(speech(400))
        player.stops()
        if not drafts_ahead:
            player.hears(next(iter(player.work.utterances)), "How are you?")
            says_it(player)
        player.speaks_all()
        player.finish()
        one(player.events, "response.done")
        played.append(blind(player.events))

    assert played[0] == played[1]


# --- the guess was wrong --------------------------------------------------------------------


def test_who_goes_on_makes_the_draft_useless(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.ends(work_id, read=30, written=9)
    events = player.resumes()

    assert events == []
    assert work_id in player.work.stopped
    assert (player.work.segments, player.work.generations) == ([], {})
    assert wasted(player) == (30, 9)


def test_what_was_written_so_far_is_counted_when_a_draft_is_stopped(player: Player) -> None:
    player.writes(drafts(player), "One ", "two ", "three")
    player.resumes()

    assert wasted(player) == (0, 3)


def test_the_next_pause_drafts_an_answer_to_all_that_was_said(player: Player) -> None:
    first = drafts(player, "I would like")
    player.resumes()
    player.append(speech(1000))
    player.pauses()
    (voice_id,) = player.work.utterances
    player.hears(voice_id, "I would like a tea.")
    (second,) = player.work.generations
    player.writes(second, "With milk?")
    events = player.stops()

    assert first != second
    assert one(events, "response.output_audio_transcript.delta")["delta"] == "With milk?"
    assert one(events, "conversation.item.input_audio_transcription.completed")["transcript"] == (
        "I would like a tea."
    )
    player.ends(second)
    player.speaks_all()
    player.finish()


def test_a_dropped_draft_takes_no_more_work(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    segment = player.work.segments[0]
    player.resumes()

    assert player.writes(work_id, "Late.") == []
    assert player.speaks(segment, speech(100)) == []
    assert player.ends(work_id) == []
    assert player.fails(work_id) == []


def add_message(player: Player) -> None:
    player.create_text("By the way.")


def delete_message(player: Player) -> None:
    player.send("conversation.item.delete", item_id=player.items()[0]["id"])


def change_instructions(player: Player) -> None:
    player.update(instructions="Be brief.")


def change_tools(player: Player) -> None:
    player.update(tools=[{"type": "function", "name": "look"}])


def change_length(player: Player) -> None:
    player.update(max_output_tokens=7)


def change_voice(player: Player) -> None:
    player.update(audio={"output": {"voice": "verse"}})


def change_speed(player: Player) -> None:
    player.update(audio={"output": {"speed": 1.5}})


def change_modality(player: Player) -> None:
    player.update(output_modalities=["text"])


@pytest.mark.parametrize(
    "change",
    [
        add_message,
        delete_message,
        change_instructions,
        change_tools,
        change_length,
        change_voice,
        change_speed,
        change_modality,
    ],
)
def test_a_draft_is_not_used_if_the_answer_would_be_another_by_now(
    player: Player, change: Callable[[Player], None]
) -> None:
    player.create_text("Before.")
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    change(player)
    events = player.stops()

    response_id = response_id_of(events)
    assert "response.output_audio_transcript.delta" not in types(events)
    assert work_id in player.work.stopped
    assert list(player.work.generations) == [response_id]
    assert not player.work.generations[response_id].speculative
    assert wasted(player) == (0, 1)
    player.answers(response_id, "Another answer.")
    player.finish()


def test_what_does_not_touch_the_answer_leaves_the_draft_alone(player: Player) -> None:
    player.create_text("Before.")
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.send("conversation.item.retrieve", item_id=player.items()[0]["id"])
    beside = player.respond(conversation="none", input=[user_text("What else?")])
    player.update_input(turn_detection={"type": "server_vad", "silence_duration_ms": 700})
    events = player.stops()

    assert one(events, "response.output_audio_transcript.delta")["delta"] == ANSWER
    assert work_id in player.work.committed
    assert work_id not in player.work.stopped
    for each in (beside, work_id):
        player.ends(each)
    player.speaks_all()
    player.finish()


def test_a_client_that_asks_in_the_pause_gets_its_own_answer(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    response_id = player.respond()

    assert work_id in player.work.stopped
    assert not player.work.generations[response_id].speculative
    player.answers(response_id, "Mine.")
    player.answers(response_id_of(player.stops()), "And the other.")
    player.finish()


def test_a_commit_in_the_pause_uses_no_draft(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.append(speech(200))
    events = player.send("input_audio_buffer.commit")

    assert "response.created" not in types(events)
    assert work_id in player.work.stopped
    (voice_id,) = player.work.utterances
    assert player.work.utterances[voice_id].pcm == speech(1400)
    player.hears(voice_id, "How are you? Well?")
    player.finish()


def test_a_clear_in_the_pause_leaves_nothing(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    events = player.send("input_audio_buffer.clear")

    assert types(events) == ["input_audio_buffer.speech_stopped", "input_audio_buffer.cleared"]
    assert work_id in player.work.stopped
    assert player.items() == []
    player.finish()


def test_detection_that_is_switched_off_in_the_pause_leaves_nothing(player: Player) -> None:
    work_id = drafts(player)
    player.update_input(turn_detection=None)

    assert work_id in player.work.stopped
    player.finish()


def test_detection_that_no_longer_answers_leaves_the_draft_unused(player: Player) -> None:
    work_id = drafts(player)
    player.update_input(turn_detection={"type": "server_vad", "create_response": False})
    events = player.stops()

    assert "response.created" not in types(events)
    assert work_id in player.work.stopped
    player.answers(player.respond(), "Fine.")
    player.finish()


# --- no draft -------------------------------------------------------------------------------


def test_the_plain_protocol_makes_no_guess() -> None:
    player = Player(START)
    player.starts()
    player.append(speech(1200))
    player.pauses()

    assert player.work.utterances == {}


def test_a_busy_machine_makes_no_guess(player: Player) -> None:
    player.is_busy()
    player.starts()
    player.append(speech(1200))
    player.pauses()

    assert player.work.utterances == {}


def test_a_machine_that_gets_busy_drafts_nothing(player: Player) -> None:
    voice_id = pauses(player)
    player.is_busy()
    player.hears(voice_id, "Hello.")

    assert player.work.generations == {}
    assert one(player.stops(), "response.created")


def test_noise_is_not_answered_ahead(player: Player) -> None:
    player.hears(pauses(player), "  ")

    assert player.work.generations == {}
    assert "response.created" not in types(player.stops())
    player.finish()


def test_who_answers_by_hand_gets_no_draft(player: Player) -> None:
    player.update_input(turn_detection={"type": "server_vad", "create_response": False})
    player.hears(pauses(player), "Hello.")

    assert player.work.generations == {}


def test_a_session_that_only_transcribes_drafts_nothing() -> None:
    player = Player(replace(NATURAL_START, transcription=True))
    player.hears(pauses(player), "How are you?")
    assert player.work.generations == {}
    events = player.stops()

    completed = one(events, "conversation.item.input_audio_transcription.completed")
    assert completed["transcript"] == "How are you?"
    assert len(player.of(StartTranscription)) == 1
    player.finish()


def test_there_is_no_draft_of_an_answer_that_can_not_be_given() -> None:
    player = Player(replace(NATURAL_START, context_tokens=60))
    player.update(truncation="disabled", instructions="Be kind. " * 100)
    player.hears(pauses(player), "How are you?")
    assert player.work.generations == {}
    events = player.stops()

    assert one(events, "response.done")["response"]["status"] == "failed"
    player.finish()


def test_there_is_no_draft_while_an_answer_is_open(player: Player) -> None:
    player.update_input(turn_detection={"type": "server_vad", "interrupt_response": False})
    response_id = player.respond()
    player.append(speech(300))
    player.starts()
    player.append(speech(1200))
    player.pauses()
    player.hears(next(iter(player.work.utterances)), "Hello.")

    assert list(player.work.generations) == [response_id]


def test_there_is_no_draft_while_other_words_are_not_known(player: Player) -> None:
    earlier = player.says()
    player.starts()
    player.append(speech(1200))
    player.pauses()
    guess = next(voice_id for voice_id in player.work.utterances if voice_id != earlier)
    player.hears(guess, "And then?")

    assert player.work.generations == {}


# --- the guess at the words -----------------------------------------------------------------


def test_a_guess_that_is_still_worked_on_at_the_end_is_kept(player: Player) -> None:
    voice_id = pauses(player)
    player.append(speech(400))
    events = player.stops()

    assert "response.created" not in types(events)
    assert voice_id in player.work.committed
    assert list(player.work.utterances) == [voice_id]
    events = player.hears(voice_id, "How are you?")
    completed = one(events, "conversation.item.input_audio_transcription.completed")
    assert completed["transcript"] == "How are you?"
    assert len(player.of(StartTranscription)) == 1
    player.answers(response_id_of(events), "Fine.")
    player.finish()


def test_a_guess_that_failed_is_made_again_at_the_end(player: Player) -> None:
    assert player.mishears(pauses(player)) == []
    events = player.stops()

    item_id = one(events, "input_audio_buffer.committed")["item_id"]
    assert player.work.utterances[item_id].pcm == speech(1200)
    assert not player.work.utterances[item_id].speculative
    player.answers(response_id_of(player.hears(item_id, "How are you?")), "Fine.")
    player.finish()


def test_a_guess_that_was_kept_and_fails_fails_the_turn(player: Player) -> None:
    voice_id = pauses(player)
    player.stops()
    events = player.mishears(voice_id)

    assert types(events) == ["conversation.item.input_audio_transcription.failed"]
    player.finish()


def test_who_goes_on_soon_makes_the_guess_useless(player: Player) -> None:
    voice_id = pauses(player)
    player.resumes()

    assert voice_id in player.work.stopped
    assert player.hears(voice_id, "How are you?") == []


# --- what may fail --------------------------------------------------------------------------


def test_a_draft_whose_model_fails_is_silently_forgotten(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, "This is")
    player.fails(work_id)
    events = player.stops()

    response_id = response_id_of(events)
    assert response_id in player.work.generations
    player.answers(response_id, "Fine.")
    assert one(player.events, "response.done")["response"]["status"] == "completed"
    player.finish()


def test_an_answer_that_was_a_draft_can_fail_like_any_other(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, "This is")
    player.stops()
    events = player.fails(work_id)

    done = one(events, "response.done")["response"]
    assert (done["status"], done["status_details"]["error"]["code"]) == ("failed", "llm_failed")
    player.finish()


def test_an_answer_that_was_a_draft_can_be_cancelled_like_any_other(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.stops()
    events = player.send("response.cancel")

    assert one(events, "response.done")["response"]["status"] == "cancelled"
    assert work_id in player.work.stopped
    assert player.work.segments == []
    player.finish()


@pytest.mark.parametrize("stage", ["llm", "tts"])
def test_a_stage_that_is_lost_in_the_pause_only_loses_the_draft(player: Player, stage: str) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    assert player.loses(stage) == []
    events = player.stops()

    assert response_id_of(events) in player.work.generations
    player.answers(response_id_of(events), "Fine.")
    player.finish()


def test_recognition_that_is_lost_at_a_guess_is_asked_again(player: Player) -> None:
    pauses(player)
    assert player.loses("stt") == []
    events = player.stops()

    item_id = one(events, "input_audio_buffer.committed")["item_id"]
    player.answers(response_id_of(player.hears(item_id, "Hello.")), "Fine.")
    player.finish()


def test_recognition_that_is_lost_behind_the_guess_is_not_missed(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    player.loses("stt")
    events = player.stops()

    assert one(events, "response.output_audio_transcript.delta")["delta"] == ANSWER


def test_voice_detection_that_is_lost_in_the_pause_ends_the_turn(player: Player) -> None:
    work_id = drafts(player)
    player.writes(work_id, ANSWER)
    events = player.loses("vad")

    assert "input_audio_buffer.committed" in types(events)
    assert one(events, "response.output_audio_transcript.delta")["delta"] == ANSWER
    player.ends(work_id)
    player.speaks_all()
    player.finish()
