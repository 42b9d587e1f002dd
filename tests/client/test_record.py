"""Frames from a server become events, or are refused."""

from __future__ import annotations

import base64
import json

import pytest

from s2s_actors.client.record import Closed, Event, Record, parse_event
from s2s_actors.errors import SetupError


def test_an_event_keeps_its_time_type_and_fields() -> None:
    event = parse_event('{"type": "error", "error": {"code": "oops"}}', 12.5)
    assert (event.at_ms, event.type, event.text("error", "code")) == (12.5, "error", "oops")


def test_audio_is_decoded_and_not_kept_as_text() -> None:
    delta = base64.b64encode(b"\1\2\3\4").decode()
    frame = json.dumps({"type": "response.output_audio.delta", "item_id": "a", "delta": delta})
    event = parse_event(frame, 0.0)
    assert event.audio == b"\1\2\3\4"
    assert "delta" not in event.fields
    assert Record([event, event]).answer_pcm() == b"\1\2\3\4" * 2


def test_fields_of_a_wrong_type_count_as_absent() -> None:
    event = Event(0.0, "x", {"a": {"b": 1}, "c": "text"})
    assert event.text("a", "b") == ""
    assert event.text("c", "d") == ""
    assert event.text("missing", "entirely") == ""


@pytest.mark.parametrize(
    "frame",
    [
        "hello",
        "[1, 2]",
        '"text"',
        "{}",
        b"\x00\xff",
        '{"type": "response.output_audio.delta"}',
        '{"type": "response.output_audio.delta", "delta": "not base64!"}',
        '{"type": "response.output_audio.delta", "delta": 7}',
    ],
)
def test_what_no_realtime_server_sends_is_refused(frame: str | bytes) -> None:
    with pytest.raises(SetupError, match="this is no Realtime server"):
        parse_event(frame, 0.0)


def test_a_close_reads_as_code_and_reason() -> None:
    assert str(Closed(1013, "try again")) == "1013 try again"
    assert str(Closed(1000)) == "1000"
