"""What went wrong is said in one line each."""

from __future__ import annotations

from s2s_actors.client.outcome import problems
from s2s_actors.client.record import Closed, Event, Record
from tests.support.events import TRANSCRIPTION, answered, heard, one_turn


def test_a_turn_that_was_answered_has_no_problem() -> None:
    assert problems(one_turn()) == []


def test_nothing_heard_says_how_long_it_was_waited_for() -> None:
    assert problems(Record(gave_up_after_s=5.0)) == ["the server heard nothing within 5 s"]


def test_heard_but_not_answered() -> None:
    record = Record(heard(1, 0, 100), gave_up_after_s=2.5)
    assert problems(record) == ["the server answered nothing within 2.5 s"]


def test_an_answer_without_audio_is_no_spoken_answer() -> None:
    record = Record([*heard(1, 0, 100), *answered(1, 200, ["Hi"], audio_ms=0)])
    assert problems(record) == ["the answer came without audio"]


def test_an_answer_that_breaks_off() -> None:
    record = Record([*heard(1, 0, 100), *answered(1, 200, ["Hi"])[:-1]], gave_up_after_s=3.0)
    assert problems(record) == ["the conversation broke off: nothing happened within 3 s"]


def test_a_failed_response_is_a_problem_even_beside_a_good_one() -> None:
    error = {"code": "tts_failed", "message": "no voice"}
    failed = answered(2, 500, [], status="failed", status_details={"error": error})
    record = Record([*heard(1, 0, 100), *answered(1, 200, ["Hi"]), *failed])
    assert problems(record) == ["the response failed: tts_failed: no voice"]


def test_a_failed_transcript_is_a_problem() -> None:
    record = one_turn()
    error = {"message": "too noisy"}
    record.events.append(Event(2500, f"{TRANSCRIPTION}.failed", {"item_id": "u1", "error": error}))
    assert problems(record) == ["no transcript: too noisy"]


def test_a_connection_that_the_server_ends_is_a_problem() -> None:
    record = one_turn()
    record.closed = Closed(1011, "unit failed")
    assert problems(record) == ["the server closed the connection: 1011 unit failed"]
