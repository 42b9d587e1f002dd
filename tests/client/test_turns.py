"""Events are sorted into the turns to which they belong."""

from __future__ import annotations

from s2s_actors.client.record import Event, Record
from s2s_actors.client.turns import turns_of
from s2s_actors.client.waterfall import STAGES, stage_times_ms, waterfall
from tests.support.events import TRANSCRIPTION, answered, heard, one_turn, transcribed


def test_a_turn_has_its_transcript_and_its_answer() -> None:
    (turn,) = turns_of(one_turn())
    assert turn.transcript == "What is the capital of France?"
    (answer,) = turn.answers
    assert answer.text == "The capital of France is Paris."
    assert answer.status == "completed"
    assert answer.audio_bytes == 1800 * 48


def test_a_turn_reaches_every_stage() -> None:
    (turn,) = turns_of(one_turn())
    times_ms = stage_times_ms(turn)
    assert [times_ms[stage] for stage in STAGES] == [1000, 1500, 1600, 1710, 2010, 2110]
    assert waterfall(times_ms).total_ms == 1110


def test_each_answer_belongs_to_the_speech_before_it() -> None:
    record = Record(
        [
            *heard(1, 100, 1000),
            *answered(1, 1100, ["One."]),
            *heard(2, 2000, 3000),
            *answered(2, 3100, ["Two."]),
            transcribed(2, 3900, "second"),
            transcribed(1, 4000, "first"),
        ],
        speech_ms=[(0, 600), (1900, 2500)],
    )
    turns = turns_of(record)
    assert [(turn.transcript, turn.answers[0].text) for turn in turns] == [
        ("first", "One."),
        ("second", "Two."),
    ]
    assert [turn.speech_end_ms for turn in turns] == [600, 2500]


def test_an_interrupted_answer_says_why_it_ended() -> None:
    details = {"type": "cancelled", "reason": "turn_detected"}
    interrupted = answered(1, 1100, ["Well,"], status="cancelled", status_details=details)
    (turn,) = turns_of(Record([*heard(1, 100, 1000), *interrupted]))
    assert turn.answers[0].status == "cancelled"
    assert turn.answers[0].detail == "turn_detected"


def test_a_failed_answer_says_what_the_server_says() -> None:
    error = {"code": "llm_failed", "message": "the model is gone"}
    failed = answered(
        1, 1100, [], audio_ms=0, status="failed", status_details={"type": "failed", "error": error}
    )
    (turn,) = turns_of(Record([*heard(1, 100, 1000), *failed]))
    assert turn.answers[0].detail == "llm_failed: the model is gone"


def test_transcript_deltas_count_until_the_whole_transcript_is_there() -> None:
    delta = Event(1100, f"{TRANSCRIPTION}.delta", {"item_id": "u1", "delta": "What is"})
    partial = Record([*heard(1, 100, 1000), delta])
    assert turns_of(partial)[0].transcript == "What is"
    assert turns_of(partial)[0].transcript_ms is None
    partial.events.append(transcribed(1, 1200, " What is it?"))
    assert turns_of(partial)[0].transcript == "What is it?"


def test_a_failed_transcript_keeps_its_reason() -> None:
    failed = Event(
        1100, f"{TRANSCRIPTION}.failed", {"item_id": "u1", "error": {"message": "too long"}}
    )
    (turn,) = turns_of(Record([*heard(1, 100, 1000), failed]))
    assert turn.transcript_error == "too long"


def test_an_answer_to_nothing_is_a_turn_of_its_own() -> None:
    (turn,) = turns_of(Record(answered(1, 100, ["Hello!"])))
    assert turn.item_id == ""
    assert turn.answers[0].text == "Hello!"


def test_speech_that_goes_on_when_the_server_stops_is_not_its_end() -> None:
    record = Record(heard(1, 100, 1000), speech_ms=[(0, 700), (900, 1400)])
    assert turns_of(record)[0].speech_end_ms == 700


def test_deltas_of_an_unknown_response_are_left_out() -> None:
    stray = Event(1.0, "response.output_text.delta", {"response_id": "r9", "delta": "x"})
    assert turns_of(Record([stray])) == []
