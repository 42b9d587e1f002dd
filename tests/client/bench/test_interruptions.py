"""Interruptions of a long answer are read from what came after they began, at 1000 ms."""

from __future__ import annotations

import pytest

from s2s_actors.client.bench.backchannel import backchannel_row, small_sounds
from s2s_actors.client.bench.barge_in import barge_in_row
from s2s_actors.client.bench.exchange import Exchange
from s2s_actors.client.bench.story import NoStory, Story
from tests.client.bench.heard import (
    CLIP,
    audio,
    committed,
    created,
    done,
    place,
    started,
    transcribed,
)

STORY = Story("old", [])
CUT = done(1160, "old", "cancelled")


def made(*events: object) -> Exchange:
    return Exchange(CLIP.trimmed(), 1000.0, list(events))  # type: ignore[arg-type]


def test_an_interruption_is_measured_from_its_first_sample() -> None:
    row = barge_in_row(
        made(
            audio(1050, response="old"),
            started(1150),
            CUT,
            *committed(1900),
            transcribed(2000, "What is it?"),
            created(2010, "new"),
            audio(2300, response="new"),
        ),
        STORY,
        place("barge-in"),
        1.0,
    )
    assert (row.started_ms, row.cancelled_ms, row.last_audio_ms) == (150, 160, 50)
    assert (row.late_audio, row.first_word_heard, row.answered) == (0, True, True)
    assert row.answer_ms == 600  # the interruption is 700 ms long


def test_audio_after_the_end_of_an_answer_is_counted() -> None:
    row = barge_in_row(
        made(audio(1050, response="old"), started(1150), CUT, audio(1170, response="old")),
        STORY,
        place("barge-in"),
        1.0,
    )
    assert (row.late_audio, row.last_audio_ms) == (1, 170)


def test_a_swallowed_first_word_and_a_missing_answer_show() -> None:
    row = barge_in_row(
        made(started(1150), CUT, *committed(1900), transcribed(2000, "is it?")),
        STORY,
        place("barge-in"),
        1.0,
    )
    assert (row.first_word_heard, row.answered, row.answer_ms) == (False, False, None)


def test_an_answer_that_goes_on_was_not_stopped() -> None:
    late_end = done(9000, "old")
    row = barge_in_row(made(audio(5000, response="old"), late_end), STORY, place("barge-in"), 1.0)
    assert (row.started_ms, row.cancelled_ms, row.last_audio_ms) == (None, None, 4000)


def test_an_answer_that_ends_by_itself_at_once_proves_nothing() -> None:
    with pytest.raises(NoStory):
        barge_in_row(made(done(1100, "old")), STORY, place("barge-in"), 1.0)
    with pytest.raises(NoStory):
        backchannel_row(made(done(1100, "old")), "old", "word", place("backchannel"), 1.0)


def test_an_answer_goes_on_through_a_small_sound() -> None:
    row = backchannel_row(
        made(started(1100), audio(2000, response="old")), "old", "word", place("backchannel"), 1.0
    )
    assert (row.started, row.cancelled, row.resumed, row.answered) == (True, False, None, None)


def test_an_answer_that_is_taken_up_again_was_resumed() -> None:
    row = backchannel_row(
        made(
            started(1100), CUT, *committed(1500), created(1700, "new"), audio(1800, response="new")
        ),
        "old",
        "sound",
        place("backchannel"),
        1.0,
    )
    assert (row.cancelled_ms, row.resumed, row.answered) == (160, True, False)


def test_a_small_sound_that_gets_an_answer_was_taken_for_a_turn() -> None:
    row = backchannel_row(
        made(
            started(1100),
            CUT,
            *committed(1500),
            transcribed(1600, "Yeah."),
            created(1700, "new"),
            audio(1800, response="new"),
        ),
        "old",
        "word",
        place("backchannel"),
        1.0,
    )
    assert (row.resumed, row.answered, row.transcript) == (False, True, "Yeah.")


def test_without_a_voice_hums_stand_in_for_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2s_actors.client.bench.backchannel.said", lambda _: [])
    kinds = small_sounds()
    assert [kind for kind, _ in kinds] == ["word", "sound"] * 3
    assert kinds[0][1].name == "hum of 200 ms"
    assert kinds[0][1].end_ms == 200
