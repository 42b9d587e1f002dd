"""Audio is sent no further ahead than it is played soon, and all of it in order."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from s2s_actors.protocol.audio import DELTA_MS
from s2s_actors.protocol.conduct import NATURAL
from tests.protocol.playing import (
    NATURAL_START,
    START,
    Event,
    Player,
    one,
    speech,
    types,
    user_text,
)

LEAD_MS = 2000
SENTENCES = "This is a whole sentence. And here is another one. And that is the third of them. "
AUDIO = "response.output_audio.delta"


@pytest.fixture
def player() -> Player:
    """A session that sends two seconds ahead."""
    return Player(replace(NATURAL_START, conduct=replace(NATURAL, lead_ms=LEAD_MS)))


def sent(events: list[Event]) -> bytes:
    """The audio of an answer as far as it was sent."""
    deltas = [event["delta"] for event in events if event["type"] == AUDIO]
    return b"".join(base64.b64decode(each) for each in deltas)


def sent_ms(player: Player) -> float:
    """How much was sent."""
    return len(sent(player.events)) / 48


def answers(player: Player, text: str = SENTENCES, **response: Any) -> str:
    """An answer is written; returns the response."""
    response_id = player.respond(**response)
    player.writes(response_id, text)
    player.ends(response_id)
    return response_id


def plays_out(player: Player) -> int:
    """Time passes until nothing is held back any more; returns how often the timer came."""
    times = 0
    while "playout" in player.work.timers:
        player.waits(player.work.timers["playout"])
        player.timer("playout")
        times += 1
    return times


def test_what_is_made_faster_than_it_plays_is_held_back(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1), last=False)

    assert LEAD_MS - DELTA_MS < sent_ms(player) <= LEAD_MS


def test_what_was_played_makes_room_for_as_much(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1), last=False)
    before_ms = sent_ms(player)
    player.waits(1000)
    player.timer("playout")

    assert sent_ms(player) == before_ms + 1000


def test_a_timer_that_comes_early_sends_nothing_and_is_set_again(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1), last=False)
    delay_ms = player.work.timers["playout"]
    player.waits(delay_ms - 50)

    assert player.timer("playout") == []
    assert 0 < player.work.timers["playout"] <= 50


def test_all_of_it_is_sent_in_the_end_in_order(player: Player) -> None:
    answers(player)
    made = b""
    for sample in (1, 2, 3):
        segment = player.work.segments[0]
        for part in range(3):
            pcm = speech(1000, sample * 10 + part)
            made += pcm
            player.speaks(segment, pcm, last=part == 2)
        plays_out(player)

    assert sent(player.events) == made
    player.finish()


def test_no_delta_is_longer_than_a_quarter_of_a_second(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1))
    plays_out(player)

    assert all(len(sent([event])) <= 48 * DELTA_MS for event in player.events)


def test_the_end_is_told_after_the_last_sound(player: Player) -> None:
    answers(player, "One sentence is enough.")
    player.speaks(player.work.segments[0], speech(6000, 1))
    assert player.open_response
    assert "response.output_audio.done" not in types(player.events)
    plays_out(player)

    kinds = types(player.events)
    assert (
        kinds.index("response.output_audio.done") == len(kinds) - 1 - kinds[::-1].index(AUDIO) + 1
    )
    assert kinds[-2:] == ["response.done", "rate_limits.updated"]
    player.finish()


def test_text_is_not_held_back(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, SENTENCES)
    player.speaks(player.work.segments[0], speech(9000, 1))
    events = player.writes(response_id, "One more sentence. ")

    assert types(events) == ["response.output_audio_transcript.delta"]


def test_the_voice_is_not_asked_for_what_is_played_much_later(player: Player) -> None:
    answers(player, SENTENCES * 5)
    asked = [each.segment for each in player.work.segments]
    assert asked == [0, 1]
    player.speaks(player.work.segments[0], speech(5000, 1))
    player.speaks(player.work.segments[0], speech(5000, 2))
    assert player.work.segments == []

    while sent_ms(player) <= 8000:
        assert player.work.segments == []
        player.waits(player.work.timers["playout"])
        player.timer("playout")
    assert [each.segment for each in player.work.segments] == [2, 3]


def test_who_writes_is_told_when_the_voice_has_enough_to_say_and_when_not(player: Player) -> None:
    response_id = answers(player, SENTENCES * 2)
    assert player.work.text_enough == {response_id}
    while player.work.segments:
        player.speaks(player.work.segments[0], speech(1500, 1))
        if not player.work.segments:
            plays_out(player)
    assert player.work.text_enough == set()
    player.finish()


def test_each_segment_is_asked_for_once_and_in_order(player: Player) -> None:
    answers(player, SENTENCES * 3)
    asked = []
    while player.work.segments:
        asked.append(player.work.segments[0].segment)
        player.speaks(player.work.segments[0], speech(1500, 1))
        if not player.work.segments:
            plays_out(player)

    assert asked == list(range(len(asked)))
    assert len(asked) > 3
    player.finish()


def test_a_segment_without_sound_holds_nothing_up(player: Player) -> None:
    answers(player, SENTENCES)
    while player.work.segments:
        player.speaks(player.work.segments[0])

    assert one(player.events, "response.done")["response"]["status"] == "completed"
    assert "response.output_audio.done" not in types(player.events)
    player.finish()


def test_a_cancelled_answer_keeps_back_what_was_not_sent(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1))
    before_ms = sent_ms(player)
    player.send("response.cancel")
    player.waits(9000)
    player.timer("playout")

    assert sent_ms(player) == before_ms
    player.finish()


def test_the_next_answer_waits_for_the_playback_of_the_one_before(player: Player) -> None:
    answers(player, "One sentence is enough.")
    player.speaks(player.work.segments[0], speech(LEAD_MS, 1))
    assert player.open_response is None
    answers(player, "Another one comes here.")
    player.speaks(player.work.segments[0], speech(3000, 2))

    assert sent_ms(player) <= LEAD_MS
    plays_out(player)
    assert sent_ms(player) == LEAD_MS + 3000
    player.finish()


def test_the_timer_of_one_answer_does_no_harm_to_the_next(player: Player) -> None:
    answers(player)
    player.speaks(player.work.segments[0], speech(9000, 1))
    player.send("response.cancel")
    answers(player, "Another one comes here.")

    assert player.timer("playout") == []
    player.speaks(player.work.segments[0], speech(500, 2))
    player.finish()


def test_nobody_plays_what_is_out_of_band_so_it_is_not_held_back(player: Player) -> None:
    answers(player, conversation="none", input=[user_text("Hi")])
    assert len(player.work.segments) == 3
    player.speaks(player.work.segments[0], speech(9000, 1))

    assert sent_ms(player) == 9000
    assert player.work.echoes == []
    player.speaks_all()
    player.finish()


def test_in_the_plain_protocol_audio_comes_as_fast_as_it_is_made() -> None:
    player = Player(START)
    answers(player)
    assert len(player.work.segments) == 3
    player.speaks(player.work.segments[0], speech(9000, 1))

    assert sent_ms(player) == 9000
    assert "playout" not in player.work.timers


def test_a_lead_that_is_shorter_than_a_delta_holds_nothing_up() -> None:
    player = Player(replace(NATURAL_START, conduct=replace(NATURAL, lead_ms=1)))
    answers(player, "One sentence is enough.")
    player.speaks(player.work.segments[0], speech(1000, 1))
    plays_out(player)

    assert sent_ms(player) == 1000
    player.finish()


def test_idle_time_counts_from_the_end_of_what_is_played(player: Player) -> None:
    player.update_input(turn_detection={"type": "server_vad", "idle_timeout_ms": 5000})
    answers(player, "One sentence is enough.")
    player.speaks(player.work.segments[0], speech(1500, 1))

    assert player.work.timers["idle"] == 6500
