"""Audio is counted by its length, and never for less than it is."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from s2s_actors.protocol.codec import decode
from s2s_actors.server.audio_meter import AudioMeter


def length_s(meter: AudioMeter, **event: Any) -> float:
    return meter.length_s(decode(json.dumps(event)))


def silence(size_bytes: int) -> str:
    return base64.b64encode(bytes(size_bytes)).decode()


def update(format_: object) -> dict[str, Any]:
    session = {"type": "realtime", "audio": {"input": {"format": format_}}}
    return {"type": "session.update", "session": session}


APPEND = {"type": "input_audio_buffer.append", "audio": silence(48_000)}
PART = {"type": "input_audio", "audio": silence(24_000)}
MESSAGE = {
    "type": "message",
    "role": "user",
    "content": [PART, {"type": "input_text", "text": "x"}],
}


@pytest.mark.parametrize(
    ("event", "seconds"),
    [
        (APPEND, 1.0),
        ({"type": "conversation.item.create", "item": MESSAGE}, 0.5),
        ({"type": "response.create", "response": {"input": [MESSAGE, MESSAGE]}}, 1.0),
        ({"type": "response.create"}, 0.0),
        ({"type": "input_audio_buffer.commit"}, 0.0),
    ],
)
def test_every_way_to_send_audio_counts(event: dict[str, Any], seconds: float) -> None:
    assert length_s(AudioMeter(), **event) == pytest.approx(seconds, abs=0.001)


@pytest.mark.parametrize("law", ["audio/pcmu", "audio/pcma"])
def test_telephone_audio_is_six_times_as_long_for_its_bytes(law: str) -> None:
    meter = AudioMeter()
    length_s(meter, **update({"type": law}))
    assert length_s(meter, **APPEND) == pytest.approx(6.0, abs=0.001)


def test_a_session_may_begin_with_telephone_audio() -> None:
    meter = AudioMeter({"audio": {"input": {"format": {"type": "audio/pcmu"}}}})
    assert length_s(meter, **APPEND) == pytest.approx(6.0, abs=0.001)


def test_a_change_that_may_be_refused_makes_no_audio_cheaper() -> None:
    meter = AudioMeter()
    length_s(meter, **update({"type": "audio/pcmu"}))
    length_s(meter, **update({"type": "audio/pcm", "rate": 24_000}))
    assert length_s(meter, **APPEND) == pytest.approx(6.0, abs=0.001)


@pytest.mark.parametrize("format_", [None, 5, "audio/pcmu", {"type": ["audio/pcmu"]}, {}])
def test_nonsense_in_an_update_is_left_to_others(format_: object) -> None:
    meter = AudioMeter()
    assert length_s(meter, **update(format_)) == 0.0
    assert length_s(meter, **APPEND) == pytest.approx(1.0, abs=0.001)
