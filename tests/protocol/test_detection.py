"""When a turn ends by sound and words, by the clock, or because audio stops coming."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.protocol.detection import MUTE_MS
from s2s_actors.protocol.end_of_turn import silence_needed_ms
from s2s_actors.protocol.outputs import EndAudio
from tests.protocol.playing import (
    NATURAL_START,
    START,
    Event,
    Player,
    one,
    response_id_of,
    speech,
    types,
)

BUFFER = "input_audio_buffer."
FINISHED = "What is the capital of France?"
OPEN = "I would like to"


def semantic(player: Player, **settings: Any) -> Player:
    """End its turns by sound and words."""
    player.update_input(
        turn_detection={"type": "semantic_vad"} | settings, transcription={"model": "whisper-1"}
    )
    return player


@pytest.fixture
def player() -> Player:
    """A session that ends turns by sound and words."""
    return semantic(Player(NATURAL_START))


def pauses(player: Player, text: str | None = FINISHED, completeness: float | None = 0.999) -> None:
    """The user says something and pauses; it is weighed and understood, or not."""
    player.append(speech(300))
    player.starts()
    player.append(speech(2200))
    player.pauses()
    if completeness is not None:
        player.sounds(completeness, 2000)
    if text is not None:
        player.hears(next(iter(player.work.utterances)), text)


def quiet_until_the_end(player: Player, longest_ms: int = 8000) -> tuple[int, list[Event]]:
    """The silence goes on, tick by tick; returns when it has ended the turn, and how."""
    for quiet_ms in range(128, longest_ms + 1, 32):
        player.append(speech(32))
        if events := player.keeps_quiet(quiet_ms):
            return quiet_ms, events
    return longest_ms, []


@pytest.mark.parametrize("eagerness", ["low", "medium", "high"])
@pytest.mark.parametrize("completeness", [0.001, 0.5, 0.999, None])
@pytest.mark.parametrize("text", [FINISHED, OPEN, None])
def test_the_silence_that_ends_a_turn_depends_on_what_was_said_and_how(
    eagerness: Any, completeness: float | None, text: str | None
) -> None:
    player = semantic(Player(NATURAL_START), eagerness=eagerness)
    pauses(player, text, completeness)
    ended_ms, events = quiet_until_the_end(player)

    needed_ms = silence_needed_ms(completeness, text, eagerness, 2000)
    assert needed_ms <= ended_ms < needed_ms + 32
    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]


def test_a_finished_question_is_answered_soon_by_its_draft(player: Player) -> None:
    pauses(player)
    (work_id,) = player.work.generations
    player.writes(work_id, "Paris.")
    ended_ms, events = quiet_until_the_end(player)

    assert ended_ms < 250
    assert one(events, "response.output_audio_transcript.delta")["delta"] == "Paris."


def test_words_that_come_late_end_it_with_the_next_tick(player: Player) -> None:
    pauses(player, None, 0.7)
    assert player.keeps_quiet(224) == []
    assert player.hears(next(iter(player.work.utterances)), FINISHED) == []

    assert BUFFER + "speech_stopped" in types(player.keeps_quiet(256))


def test_what_was_heard_at_an_earlier_pause_says_nothing_about_this_one(player: Player) -> None:
    pauses(player)
    player.resumes()
    player.append(speech(1000))
    player.pauses()

    assert player.keeps_quiet(256) == []


def test_without_drafts_the_words_are_looked_at_all_the_same() -> None:
    player = semantic(Player(START))
    pauses(player)

    assert player.work.generations == {}
    assert quiet_until_the_end(player)[0] < 250


def test_a_busy_machine_still_looks_at_the_words_that_end_a_turn(player: Player) -> None:
    player.is_busy()
    pauses(player)

    assert player.work.generations == {}
    assert quiet_until_the_end(player)[0] < 250


def test_what_voice_detection_says_behind_the_end_of_a_turn_is_stale(player: Player) -> None:
    pauses(player)
    generation = player.work.generation
    quiet_until_the_end(player)

    assert player.work.generation > generation
    assert player.stops(generation=generation) == []
    assert player.starts(generation=generation) == []


def test_who_speaks_on_after_the_end_begins_another_turn(player: Player) -> None:
    pauses(player)
    _, events = quiet_until_the_end(player)
    first = one(events, BUFFER + "committed")["item_id"]
    assert player.resumes() == []  # the answer has begun: it may be a noise
    player.append(speech(500))
    started = one(player.lasts(500), BUFFER + "speech_started")

    assert started["item_id"] != first
    second = one(player.stops(), BUFFER + "committed")
    assert second["previous_item_id"] == first


@pytest.mark.parametrize("detection", [{"type": "server_vad"}, None])
def test_ticks_end_nothing_where_sound_and_words_do_not_count(
    player: Player, detection: object
) -> None:
    player.update_input(turn_detection=detection)
    pauses(player, None)

    assert player.keeps_quiet(8000) == []


def test_silence_without_speech_ends_nothing(player: Player) -> None:
    assert player.keeps_quiet(8000) == []
    player.sounds(1.0)


# --- a microphone that is muted -------------------------------------------------------------


@pytest.mark.parametrize("start", [NATURAL_START, START])
def test_speech_behind_which_no_audio_comes_is_ended_by_the_clock(start: Any) -> None:
    player = Player(start)
    player.starts()
    player.append(speech(500))
    assert player.work.timers["mute"] == MUTE_MS
    player.waits(MUTE_MS)
    player.timer("mute")

    assert player.of(EndAudio) == [EndAudio(player.work.generation)]
    player.answers(response_id_of(ends(player)), "Hi.")
    player.finish()


def ends(player: Player) -> list[Event]:
    """Voice detection ends what was said where it is, and it is understood."""
    item_id = one(player.stops(), BUFFER + "committed")["item_id"]
    return player.hears(item_id, "Hello.")


def test_while_audio_comes_the_clock_waits_on(player: Player) -> None:
    player.starts()
    player.waits(1000)
    player.append(speech(500))
    player.waits(MUTE_MS - 1000)
    player.timer("mute")

    assert player.of(EndAudio) == []
    assert player.work.timers["mute"] == 1000
    player.waits(1000)
    player.timer("mute")
    assert len(player.of(EndAudio)) == 1


def test_the_clock_stops_with_the_speech(player: Player) -> None:
    player.starts()
    player.append(speech(500))
    player.stops()

    assert "mute" not in player.work.timers


def test_a_clock_that_comes_too_late_ends_nothing(player: Player) -> None:
    player.starts()
    player.append(speech(500))
    player.send("input_audio_buffer.clear")
    player.waits(MUTE_MS)
    player.timer("mute")

    assert player.of(EndAudio) == []


def test_a_burst_over_an_answer_is_ended_by_the_clock_too(player: Player) -> None:
    player.writes(player.respond(), "This is a whole sentence. And")
    player.starts()
    player.append(speech(200))
    player.waits(MUTE_MS)
    player.timer("mute")

    assert len(player.of(EndAudio)) == 1


def test_speech_that_goes_on_after_a_burst_has_a_clock_of_its_own(player: Player) -> None:
    player.writes(player.respond(), "This is a whole sentence. And")
    player.starts()
    player.append(speech(200))
    player.waits(MUTE_MS)
    player.timer("mute")
    player.stops()
    assert "mute" not in player.work.timers
    player.append(speech(200))
    player.starts()

    assert player.work.timers["mute"] == MUTE_MS


def test_how_an_earlier_pause_sounded_says_nothing_about_this_one(player: Player) -> None:
    pauses(player, None, completeness=None)
    first_ms = player.quiet_ms
    player.append(speech(200))
    player.resumes()
    player.append(speech(1000))
    player.pauses()

    player.sounds(0.999, quiet_ms=first_ms)
    late, _ = quiet_until_the_end(player)
    other = semantic(Player(NATURAL_START))
    pauses(other, None, completeness=0.999)
    in_time, _ = quiet_until_the_end(other)
    assert in_time < late
