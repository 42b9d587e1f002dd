"""An exchange is read as a turn; CLIP speaks from 100 to 800 ms and begins at 1000 here."""

from __future__ import annotations

from s2s_actors.client.bench.exchange import Exchange, problem_in, turn_row
from s2s_actors.client.record import Event
from tests.client.bench.heard import (
    CLIP,
    audio,
    committed,
    created,
    done,
    place,
    started,
    transcribed,
    words,
)

END_MS = 1800.0
QUESTION_HEARD = [started(1150), *committed(2100), transcribed(2200, "What is it?")]


def made(*events: Event) -> Exchange:
    return Exchange(CLIP, 1000.0, list(events), sent_late_ms=0.5)


def test_moments_count_from_the_true_end_of_speech() -> None:
    row = turn_row(
        made(
            *QUESTION_HEARD,
            created(2250),
            words(2300, "It is."),
            audio(2400),
            audio(2500),
            done(2600),
        ),
        place(),
        1.0,
        first=True,
    )
    assert row.latency_ms == 2400 - END_MS
    assert (row.stopped_ms, row.transcript_ms) == (300, 400)
    assert (row.created_ms, row.first_text_ms, row.done_ms) == (450, 500, 800)
    assert (row.cut_off, row.answers, row.recovery_ms, row.problem) == (False, 1, None, "")
    assert (row.words, row.word_errors) == (3, 0)
    assert (row.audio_ms, row.underruns) == (600, 0)


def test_an_answer_into_the_sentence_is_a_cut_off_and_no_latency() -> None:
    row = turn_row(
        made(
            started(1150),
            *committed(1500),
            transcribed(1550, "What is"),
            created(1600),
            audio(1700),
            done(1790, status="cancelled"),
            started(1795, "u2"),
            *committed(2100, "u2"),
            transcribed(2200, "it?", "u2"),
            created(2250, "r2"),
            audio(2500, response="r2"),
            done(2600, "r2"),
        ),
        place(),
        1.0,
        first=False,
    )
    assert row.cut_off
    assert row.answered_early
    assert row.early_audio_ms == 1700 - END_MS
    assert row.latency_ms is None
    assert row.recovery_ms == 2500 - END_MS
    assert row.answers == 2
    assert row.transcript == "What is it?"
    assert row.word_errors == 0


def test_a_turn_that_is_committed_too_soon_is_cut_off_even_if_nobody_hears_it() -> None:
    row = turn_row(
        made(
            started(1150),
            *committed(1500),
            transcribed(1560, "What"),
            started(1600, "u2"),
            *committed(2100, "u2"),
            created(2200),
            audio(2300),
            done(2400),
        ),
        place(),
        1.0,
        first=False,
    )
    assert (row.cut_off, row.answered_early, row.early_audio_ms) == (True, False, None)
    assert row.recovery_ms == 500


def test_what_came_before_the_question_is_no_cut_off() -> None:
    row = turn_row(
        made(
            *committed(990, "u0"),
            *QUESTION_HEARD,
            created(2250),
            audio(2400),
            done(2500),
        ),
        place(),
        1.0,
        first=False,
    )
    assert not row.cut_off


def test_a_restarted_answer_shows() -> None:
    row = turn_row(
        made(
            *QUESTION_HEARD,
            created(2250),
            audio(2400),
            done(2450, status="cancelled"),
            created(2500, "r2"),
            audio(2700, response="r2"),
            done(2800, "r2"),
        ),
        place(),
        1.0,
        first=False,
    )
    assert (row.answers, row.latency_ms) == (2, 600)


def test_without_an_answer_the_row_says_why() -> None:
    assert turn_row(made(*QUESTION_HEARD), place(), 1.0, first=True).problem == (
        "there was no answer with audio"
    )
    error = Event(2300, "error", {"error": {"code": "busy", "message": "Later."}})
    row = turn_row(made(*QUESTION_HEARD, error), place(), 1.0, first=True)
    assert row.problem == "busy: Later."


def test_a_failed_response_is_a_problem_with_its_reason() -> None:
    details = {"status": "failed", "status_details": {"error": {"message": "no model"}}}
    event = Event(1, "response.done", {"response": {"id": "r1", **details}})
    assert problem_in([event]) == "the response failed: no model"
    assert problem_in([done(1)]) == ""
