"""A recording is spoken to a server, over a real websocket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from s2s_actors.client.conversation import converse
from s2s_actors.client.outcome import problems
from s2s_actors.client.record import Closed
from s2s_actors.client.turns import turns_of
from s2s_actors.client.waterfall import stage_times_ms
from tests.support.fake_realtime import (
    Abort,
    Close,
    FakeRealtime,
    Hear,
    Send,
    answer,
    created,
    done,
    error,
    one_turn,
    opening,
    transcribed,
    utterance,
)
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.record import Record
    from tests.support.fake_realtime import Step

QUESTION = silence(60) + tone(200)
ANSWER = tone(300, hz=880)


def talk_to(
    script: Sequence[Step],
    pcm: bytes = QUESTION,
    *,
    timeout_s: float = 5.0,
    instructions: str | None = None,
) -> tuple[Record, FakeRealtime]:
    with FakeRealtime(script) as server:
        record = asyncio.run(
            converse(server.url, pcm, instructions=instructions, timeout_s=timeout_s)
        )
    return record, server


def test_a_question_is_heard_and_answered() -> None:
    record, _ = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER))
    (turn,) = turns_of(record)
    assert turn.transcript == "What is the capital of France?"
    assert turn.answers[0].text == "The capital of France is Paris."
    assert record.answer_pcm() == ANSWER
    assert problems(record) == []


def test_times_count_from_the_first_sample() -> None:
    record, _ = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER))
    created_event = record.events[0]
    assert created_event.type == "session.created"
    assert created_event.at_ms <= record.events[1].at_ms <= 0
    times_ms = stage_times_ms(turns_of(record)[0])
    stopped_ms = times_ms["speech_stopped"]
    assert times_ms["end of speech"] == 260
    assert stopped_ms is not None
    assert stopped_ms >= 360  # the server had to hear as much, and we stream at real time


def test_the_audio_arrives_whole_and_silence_follows_it() -> None:
    _, server = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER))
    heard = bytes(server.heard)
    assert heard.startswith(QUESTION)
    assert len(heard) >= 360 * 48
    assert heard.removeprefix(QUESTION).strip(b"\0") == b""


def test_the_settings_ask_for_pcm_vad_and_transcripts() -> None:
    _, server = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER), instructions="Be brief.")
    (update,) = server.received
    session = update["session"]
    assert isinstance(session, dict)
    assert session["type"] == "realtime"
    assert session["instructions"] == "Be brief."
    assert session["audio"]["input"]["transcription"] == {"model": "whisper-1"}
    assert session["audio"]["input"]["turn_detection"] == {"type": "server_vad"}


def test_without_instructions_the_server_keeps_its_own() -> None:
    _, server = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER))
    assert "instructions" not in str(server.received)


def test_the_client_says_goodbye_properly() -> None:
    _, server = talk_to(one_turn(question_ms=260, answer_pcm=ANSWER))
    assert server.close_codes == [1000]


def test_two_questions_in_one_recording_get_two_answers() -> None:
    pcm = tone(200) + silence(600) + tone(200)
    script = [
        *opening(),
        *utterance(1, "One?", stop_after_ms=300),
        *answer(1, ["One."], ANSWER),
        Hear(800),
        *utterance(2, "Two?", stop_after_ms=1100),
        *answer(2, ["Two."], ANSWER),
    ]
    record, _ = talk_to(script, pcm)
    turns = turns_of(record)
    assert [(turn.transcript, turn.answers[0].text) for turn in turns] == [
        ("One?", "One."),
        ("Two?", "Two."),
    ]
    assert [turn.speech_end_ms for turn in turns] == [200, 1000]
    assert record.answer_pcm() == ANSWER * 2


def test_an_answer_interrupted_by_the_next_question_is_no_problem() -> None:
    pcm = tone(200) + silence(600) + tone(200)
    interrupted = {"type": "cancelled", "reason": "turn_detected"}
    script = [
        *opening(),
        *utterance(1, "One?", stop_after_ms=300),
        *answer(1, ["One."], ANSWER)[:-1],
        Hear(800),
        *utterance(2, "Two?", stop_after_ms=1100),
        done(1, "cancelled", interrupted),
        *answer(2, ["Two."], ANSWER),
    ]
    record, _ = talk_to(script, pcm)
    assert problems(record) == []
    assert turns_of(record)[0].answers[0].status == "cancelled"


def test_a_transcript_that_comes_last_is_waited_for() -> None:
    script = [
        *opening(),
        *utterance(1, None, stop_after_ms=360),
        *answer(1, ["Paris."], ANSWER),
        Hear(600),
        Send(transcribed(1, "Capital?")),
    ]
    record, _ = talk_to(script)
    assert turns_of(record)[0].transcript == "Capital?"


def test_a_server_that_hears_nothing_is_given_up() -> None:
    record, _ = talk_to(opening(), timeout_s=0.3)
    assert problems(record) == ["the server heard nothing within 0.3 s"]


def test_a_server_that_answers_nothing_is_given_up() -> None:
    script = [*opening(), *utterance(1, "Hello?", stop_after_ms=360)]
    record, _ = talk_to(script, timeout_s=0.3)
    assert problems(record) == ["the server answered nothing within 0.3 s"]


def test_an_answer_that_never_ends_is_given_up() -> None:
    script = [
        *opening(),
        *utterance(1, "Hello?", stop_after_ms=360),
        *answer(1, ["Well,"], ANSWER)[:-1],
    ]
    record, _ = talk_to(script, timeout_s=0.3)
    assert problems(record) == ["the conversation broke off: nothing happened within 0.3 s"]


def test_a_server_that_takes_no_settings_is_given_up() -> None:
    record, _ = talk_to(opening()[:1], timeout_s=0.2)
    assert problems(record) == ["the server heard nothing within 0.2 s"]


def test_a_failed_response_is_recorded() -> None:
    failure = {"error": {"code": "llm_failed", "message": "the model is gone"}}
    script = [
        *opening(),
        *utterance(1, "Hello?", stop_after_ms=360),
        created(1),
        done(1, "failed", failure),
    ]
    record, _ = talk_to(script)
    assert "the response failed: llm_failed: the model is gone" in problems(record)


def test_an_error_event_is_recorded_and_the_conversation_goes_on() -> None:
    script = one_turn(question_ms=260, answer_pcm=ANSWER)
    script.insert(2, error("unknown_parameter", "no such thing"))
    record, _ = talk_to(script)
    assert "error" in [event.type for event in record.events]
    assert problems(record) == []


def test_a_connection_that_the_server_closes_keeps_what_came_before() -> None:
    script = [*one_turn(question_ms=260, answer_pcm=ANSWER)[:-2], Close(1011, "unit failed")]
    record, _ = talk_to(script)
    assert record.closed == Closed(1011, "unit failed")
    assert record.answer_pcm() == ANSWER


def test_a_connection_that_breaks_is_reported_as_lost() -> None:
    record, _ = talk_to([*opening(), Hear(100), Abort()])
    assert record.closed == Closed(1006, "connection lost")


def test_a_connection_that_ends_before_the_audio_is_reported() -> None:
    record, server = talk_to([*opening()[:2], Close(1001, "going away")])
    assert record.closed == Closed(1001, "going away")
    assert server.heard == b""
