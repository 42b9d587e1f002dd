"""Where turns begin and end: the buffer, voice detection, limits, the idle timeout."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.protocol.detection import MAX_PREFIX_MS, MAX_UTTERANCE_MS
from s2s_actors.protocol.outputs import ConfigureVad
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


def test_speech_reaches_back_no_further_than_the_turn_before(player: Player) -> None:
    player.says(1000)
    player.append(speech(100))

    (started,) = player.starts(800)
    assert started["audio_start_ms"] == 1000


# --- interruption -------------------------------------------------------------------------


def test_speech_interrupts_the_answer(player: Player) -> None:
    response_id = response_id_of(player.hears(player.says(), "Hello."))
    player.writes(response_id, "I am ", "talking to you now. And ")
    player.speaks(player.work.segments[0], speech(400, 1), last=False)

    events = player.starts()
    assert types(events)[0] == BUFFER + "speech_started"
    done = one(events, "response.done")["response"]
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}


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
    assert player.listens(MAX_UTTERANCE_MS) == []
    player.append(speech(20))
    events = player.listens()

    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    (work,) = player.work.utterances.values()
    assert len(work.pcm) == len(speech(MAX_UTTERANCE_MS + 20))
    assert player.work.generation > generation


def test_a_recording_that_comes_faster_than_it_is_listened_to_is_not_cut(player: Player) -> None:
    player.append(speech(1000))
    player.starts()
    player.append(speech(2 * MAX_UTTERANCE_MS))
    assert player.listens(60_000) == []
    events = player.stops(60_500)

    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    player.listens(120_000)
    assert player.dialogue.listening.buffer.start_ms <= 120_000 - MAX_PREFIX_MS
    next_turn = player.starts(119_000)
    assert next_turn[0]["audio_start_ms"] == 119_000


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


def test_a_commit_of_the_client_stops_the_idle_timer(player: Player) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.append(speech(500))
    player.send(BUFFER + "commit")

    assert "idle" not in player.work.timers


def test_a_response_beside_the_conversation_leaves_the_idle_timer_running(
    player: Player,
) -> None:
    player.update_input(**server_vad(idle_timeout_ms=6000))
    player.answers(response_id_of(player.hears(player.says(), "Hello.")), "Hi.")
    player.answers(player.respond(conversation="none"), "Beside.")

    assert "idle" in player.work.timers
