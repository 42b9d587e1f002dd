"""Answers that were interrupted: what is remembered of them, and how they go on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.conduct import NATURAL
from s2s_actors.protocol.outputs import StartGeneration
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

ANSWER = "We all go up to a big red bus now."
WORDS = ANSWER.split()
MS_A_WORD = 200


def session(**conduct: Any) -> Player:
    """One that does all it can, but for what is said otherwise, and hears speech at once."""
    conduct = {"weighs_interruptions": False} | conduct
    return Player(replace(NATURAL_START, conduct=replace(NATURAL, **conduct)))


@pytest.fixture
def player() -> Player:
    """Speech over an answer interrupts it at once."""
    return session()


def says_ten_words(player: Player, sent_ms: int = 2000, **response: Any) -> str:
    """The assistant says ten words in two seconds, and has sent so much of it."""
    return says(player, ANSWER, sent_ms, **response)


def says(player: Player, text: str, sent_ms: int, **response: Any) -> str:
    """The assistant says something, and has sent so much of it."""
    response_id = player.respond(**response)
    player.writes(response_id, text)
    player.ends(response_id)
    says_what_it_has_written(player, sent_ms)
    return response_id


def says_what_it_has_written(player: Player, sent_ms: int) -> None:
    """The voice says it word by word, wherever it is cut into pieces."""
    while sent_ms > 0 and player.work.segments:
        segment = player.work.segments[0]
        whole_ms = MS_A_WORD * len(segment.text.split())
        player.speaks(segment, speech(min(whole_ms, sent_ms), 1), last=whole_ms <= sent_ms)
        sent_ms -= whole_ms


def first(count: int) -> str:
    """So many words of it."""
    return " ".join(WORDS[:count])


def remembered(player: Player) -> list[str]:
    """What the language model would be told that the assistant has said."""
    return [
        item["content"][0]["transcript"]
        for item in player.items()
        if item["type"] == "message" and item["role"] == "assistant"
    ]


def interrupts(player: Player, text: str) -> list[Event]:
    """The user says something over the answer; returns what comes of its words."""
    player.append(speech(300))
    player.starts()
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    return player.hears(item_id, text)


# --- what is remembered ---------------------------------------------------------------------


@pytest.mark.parametrize("heard_words", [0, 1, 5, 9])
def test_what_can_not_have_been_played_is_forgotten(player: Player, heard_words: int) -> None:
    says_ten_words(player)
    player.waits(heard_words * MS_A_WORD)
    player.starts()

    assert remembered(player) == [first(heard_words)]


def test_an_answer_that_is_complete_but_still_played_is_cut_as_well(player: Player) -> None:
    says_ten_words(player)
    assert player.open_response is None
    player.waits(600)
    events = player.starts()

    assert types(events) == ["input_audio_buffer.speech_started"]
    assert remembered(player) == [first(3)]


def test_an_answer_in_the_middle_of_a_piece_is_cut_by_the_time_too(player: Player) -> None:
    says_ten_words(player, sent_ms=1000)
    player.waits(600)
    events = player.starts()

    assert one(events, "response.done")["response"]["status"] == "cancelled"
    (heard,) = remembered(player)
    assert heard
    assert ANSWER.startswith(heard)
    assert len(heard.split()) < 5


def test_what_was_played_to_its_end_is_remembered_whole(player: Player) -> None:
    says_ten_words(player)
    player.waits(2000)
    player.starts()

    assert remembered(player) == [ANSWER]


def test_without_a_playback_clock_all_that_was_sent_is_remembered() -> None:
    player = session(knows_playback=False)
    says_ten_words(player)
    player.starts()

    assert remembered(player) == [ANSWER]


def test_the_sound_of_what_was_not_heard_is_not_shown(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    player.starts()
    item_id = player.items()[0]["id"]
    item = player.send("conversation.item.retrieve", item_id=item_id)[0]["item"]

    assert len(item["content"][0]["audio"]) == len(speech(600)) * 4 // 3


def test_a_client_that_has_told_before_what_was_heard_is_believed(player: Player) -> None:
    says_ten_words(player)
    item_id = player.items()[0]["id"]
    player.waits(1500)
    player.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=400)
    player.starts()

    assert remembered(player) == [first(2)]


@pytest.mark.parametrize(("told_ms", "words"), [(400, 2), (1600, 8)])
def test_a_client_that_tells_afterwards_what_was_heard_is_believed(
    player: Player, told_ms: int, words: int
) -> None:
    says_ten_words(player)
    item_id = player.items()[0]["id"]
    player.waits(1000)
    player.starts()
    player.send(
        "conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=told_ms
    )

    assert remembered(player) == [first(words)]


def test_a_client_that_cancels_has_not_heard_the_rest_either(player: Player) -> None:
    says_ten_words(player, sent_ms=1000)
    player.waits(600)
    player.send("response.cancel")

    (heard,) = remembered(player)
    assert 0 < len(heard.split()) < 5


def test_the_time_an_item_waits_for_an_earlier_one_is_not_its_own(player: Player) -> None:
    says_ten_words(player)
    says_ten_words(player)
    player.waits(2600)
    player.starts()

    assert remembered(player) == [ANSWER, first(3)]


def test_several_items_are_each_cut_where_they_were_played_to(player: Player) -> None:
    says_ten_words(player)
    says_ten_words(player)
    player.waits(600)
    player.starts()

    assert remembered(player) == [first(3), ""]


def test_the_response_still_tells_all_that_was_written(player: Player) -> None:
    says_ten_words(player, sent_ms=1000)
    player.waits(600)
    done = one(player.starts(), "response.done")["response"]

    assert done["output"][0]["content"][0]["transcript"] == ANSWER


# --- going on -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["", "Yeah.", "mm-hmm"])
@pytest.mark.parametrize("complete", [True, False])
def test_the_rest_is_said_if_the_interruption_was_none(
    player: Player, words: str, complete: bool
) -> None:
    says_ten_words(player, sent_ms=2000 if complete else 1000)
    player.waits(600)
    player.append(speech(300))
    player.starts()
    (heard,) = remembered(player)
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    events = player.hears(item_id, words)

    response_id_of(events)
    rest = one(events, "response.output_audio_transcript.delta")["delta"]
    assert f"{heard} {rest}" == ANSWER
    assert rest.startswith(player.work.segments[0].text)
    assert len(player.of(StartGeneration)) == 1
    player.speaks_all()
    done = one(player.events[-12:], "response.done")["response"]
    assert (done["status"], done["usage"]["input_tokens"]) == ("completed", 0)
    assert remembered(player) == [heard, rest]
    player.finish()


def test_what_goes_on_is_as_it_was_begun(player: Player) -> None:
    says_ten_words(player, audio={"output": {"voice": "verse", "speed": 1.5}}, metadata={"a": "b"})
    player.waits(600)
    interrupts(player, "")

    segment = player.work.segments[0]
    assert (segment.voice, segment.speed) == ("verse", 1.5)


def test_the_rest_can_be_interrupted_and_go_on_again(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    interrupts(player, "")
    says_what_it_has_written(player, 1400)
    player.waits(400)
    events = interrupts(player, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == " ".join(WORDS[5:])
    player.speaks_all()
    player.finish()


def test_it_goes_on_with_what_the_client_says_was_not_heard(player: Player) -> None:
    says_ten_words(player)
    item_id = player.items()[0]["id"]
    player.waits(600)
    player.append(speech(300))
    player.starts()
    player.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=1000)
    player.append(speech(500))
    voice_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    events = player.hears(voice_id, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == " ".join(WORDS[5:])
    player.speaks_all()
    player.finish()


def test_an_answer_of_several_pieces_goes_on_with_the_word_that_was_cut(player: Player) -> None:
    begun, more = "This is a whole sentence.", "And here is another one of them."
    says(player, f"{begun} {more}", 2400)
    player.waits(1000 + 2 * 200 + 100)
    events = interrupts(player, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == (
        "is another one of them."
    )
    player.speaks_all()
    assert remembered(player)[0] == f"{begun} And here"
    player.finish()


@given(
    words=st.lists(
        st.sampled_from(
            [
                "one",
                "two,",
                "three.",
                "`code`",
                "**bold**",
                "*",
                "3.5",
                "-",
                "日本。",
                "https://x.y/z",
            ]
        ),
        min_size=1,
        max_size=40,
    ),
    heard_ms=st.integers(0, 8000),
    sent_ms=st.integers(1, 8000),
)
def test_nothing_is_doubled_or_lost_where_an_answer_goes_on(
    words: list[str], heard_ms: int, sent_ms: int
) -> None:
    player = session(lead_ms=None)
    says(player, "Say " + " ".join(words), sent_ms)
    player.waits(heard_ms)
    player.append(speech(300))
    player.starts()
    heard = "".join(remembered(player)[0].split())
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    events = player.hears(item_id, "")

    deltas = [e["delta"] for e in events if e["type"] == "response.output_audio_transcript.delta"]
    rest = "".join("".join(deltas).split())
    assert heard + rest == "".join(["Say", *words])
    player.speaks_all()
    player.finish()


def test_what_is_still_played_goes_on_though_another_answer_was_silent(player: Player) -> None:
    says_ten_words(player)
    silent = player.respond()
    player.calls(silent, "call_1", "look", "{}")
    player.ends(silent)
    player.waits(600)
    events = interrupts(player, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == " ".join(WORDS[3:])


def test_of_two_answers_that_wait_to_be_played_the_one_that_is_heard_goes_on(
    player: Player,
) -> None:
    says_ten_words(player)
    says(player, "And this is another answer to something else.", 2000)
    player.waits(600)
    events = interrupts(player, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == " ".join(WORDS[3:])
    player.speaks_all()
    player.finish()


def test_what_was_said_is_answered_and_the_rest_is_left(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    events = interrupts(player, "What about twelve?")

    assert "response.output_audio_transcript.delta" not in types(events)
    player.answers(response_id_of(events), "Later.")
    player.finish()


def test_yes_to_the_last_words_is_an_answer(player: Player) -> None:
    says_ten_words(player)
    player.waits(1100)
    events = interrupts(player, "Yeah.")

    assert "response.output_audio_transcript.delta" not in types(events)
    assert response_id_of(events) in player.work.generations


def test_yes_to_a_question_is_an_answer_even_if_it_comes_early(player: Player) -> None:
    says(player, "Would you like to go on with it?", 1600)
    player.waits(600)
    events = interrupts(player, "Yes.")

    assert response_id_of(events) in player.work.generations


def test_noise_in_the_last_words_does_not_keep_them_from_being_said(player: Player) -> None:
    says_ten_words(player)
    player.waits(1100)
    events = interrupts(player, "")

    assert one(events, "response.output_audio_transcript.delta")["delta"] == " ".join(WORDS[5:])


def test_who_goes_on_speaking_is_not_talked_over(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    player.append(speech(300))
    player.starts()
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    player.append(speech(200))
    player.starts()

    assert "response.created" not in types(player.hears(item_id, "Yeah."))


def test_nothing_goes_on_where_that_is_switched_off() -> None:
    player = session(resumes=False)
    says_ten_words(player)
    player.waits(600)

    assert "response.created" not in types(interrupts(player, ""))
    player.finish()


def test_in_the_plain_protocol_yeah_is_answered() -> None:
    player = Player(START)
    says_ten_words(player, sent_ms=1000)
    events = interrupts(player, "Yeah.")

    assert response_id_of(events) in player.work.generations


def test_nothing_goes_on_if_nothing_is_left(player: Player) -> None:
    says_ten_words(player)
    player.waits(1999)
    player.append(speech(300))
    player.starts()
    player.send(
        "conversation.item.truncate",
        item_id=player.items()[0]["id"],
        content_index=0,
        audio_end_ms=2000,
    )
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]

    assert "response.created" not in types(player.hears(item_id, ""))
    player.finish()


def test_an_answer_that_was_played_to_its_end_does_not_go_on(player: Player) -> None:
    says_ten_words(player)
    player.waits(2001)

    assert "response.created" not in types(interrupts(player, ""))


def test_an_answer_that_the_client_has_cancelled_does_not_go_on(player: Player) -> None:
    says_ten_words(player, sent_ms=1000)
    player.waits(600)
    player.send("response.cancel")

    assert "response.created" not in types(interrupts(player, ""))
    player.finish()


def test_an_answer_that_the_client_has_asked_for_meanwhile_is_the_only_one(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    player.append(speech(300))
    player.starts()
    player.append(speech(500))
    item_id = one(player.stops(), "input_audio_buffer.committed")["item_id"]
    response_id = player.respond()
    events = player.hears(item_id, "")

    assert "response.created" not in types(events)
    player.answers(response_id, "Mine.")
    player.finish()


def test_an_answer_of_which_nothing_was_given_is_owed_after_a_noise(player: Player) -> None:
    player.create_text("How are you?")
    player.respond()
    events = interrupts(player, "")

    player.answers(response_id_of(events), "Fine.")
    assert len(player.of(StartGeneration)) == 2
    player.finish()


def test_an_answer_that_goes_on_is_paid_before_the_one_that_is_owed(player: Player) -> None:
    says_ten_words(player)
    player.create_text("And eleven?")
    player.respond()
    player.waits(600)
    events = interrupts(player, "")

    rest = one(events, "response.output_audio_transcript.delta")["delta"]
    assert rest == " ".join(WORDS[3:])
    events = player.speaks_all()
    player.answers(response_id_of(events), "Eleven.")
    player.finish()


# --- the echo -------------------------------------------------------------------------------


def test_the_microphone_is_told_what_plays_and_from_when(player: Player) -> None:
    player.append(speech(100))
    says_ten_words(player)
    pieces = len(player.work.echoes)
    player.waits(500)
    says_ten_words(player)

    at_ms = [each.at_sample // 24 for each in player.work.echoes]
    assert sum(len(each.pcm) for each in player.work.echoes) == 2 * len(speech(2000))
    assert at_ms[0] == 100
    assert at_ms[pieces] == 100 + 1500  # reckoned from now, when 1.5 s of the first are left


def test_the_microphone_is_told_when_playback_is_stopped(player: Player) -> None:
    says_ten_words(player)
    player.waits(600)
    player.append(speech(600))
    player.starts()

    last = player.work.echoes[-1]
    assert (last.pcm, last.at_sample // 24) == (b"", 600)


def test_nothing_is_said_of_echoes_where_they_are_not_ignored() -> None:
    player = session(ignores_echo=False)
    says_ten_words(player)
    player.starts()

    assert player.work.echoes == []
