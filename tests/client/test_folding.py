"""Deltas fold into one line; nothing a server sends steers the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.client.folding import fold, printable
from s2s_actors.client.record import Event
from tests.support.events import answered, one_turn


def test_the_deltas_of_an_answer_become_one_line_each() -> None:
    lines = {line.type: line for line in fold(one_turn().events)}
    words = lines["response.output_audio_transcript.delta"]
    assert (words.count, words.first_ms, words.last_ms) == (3, 1710, 1910)
    assert words.detail == "The capital of France is Paris."
    assert lines["response.output_audio.delta"].detail == "1.8 s of audio"


def test_every_event_is_in_exactly_one_line() -> None:
    events = [*one_turn().events, *answered(2, 5000, ["More", " words"])]
    lines = fold(events)
    assert sum(line.count for line in lines) == len(events)
    assert [line.type for line in lines].count("response.output_audio.delta") == 2


def test_an_error_shows_code_and_message() -> None:
    error = Event(0.0, "error", {"error": {"code": "invalid_value", "message": "no such type"}})
    assert fold([error])[0].detail == "invalid_value: no such type"


def test_a_response_shows_how_it_ended() -> None:
    details = {"reason": "turn_detected"}
    done = answered(1, 0, [], status="cancelled", status_details=details)[-1]
    assert fold([done])[0].detail == "cancelled: turn_detected"


def test_an_item_shows_whose_it_is() -> None:
    added = Event(0.0, "conversation.item.added", {"item": {"type": "message", "role": "user"}})
    assert fold([added])[0].detail == "user"


def test_escape_sequences_are_defused() -> None:
    assert printable("\x1b[31mred\x07\nand\ttab") == "[31mred and tab"


@given(st.text())
def test_shown_text_is_one_printable_line(text: str) -> None:
    assert printable(text).isprintable()
