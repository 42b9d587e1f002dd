"""Sessions that only transcribe: they hear and write, and never answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s_actors.protocol.outputs import StartGeneration
from tests.protocol.playing import START, Player, error_of, one, types


@pytest.fixture
def player() -> Player:
    return Player(replace(START, transcription=True, stt_model="tiny.en"))


def test_the_session_shows_what_it_is_with_all_defaults(player: Player) -> None:
    session = player.events[0]["session"]

    assert session == {
        "type": "transcription",
        "object": "realtime.transcription_session",
        "id": "sess_1",
        "expires_at": START.expires_at,
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "transcription": {"model": "tiny.en"},
                "noise_reduction": None,
                "turn_detection": {
                    "type": "server_vad",
                    "threshold": 0.5,
                    "prefix_padding_ms": 300,
                    "silence_duration_ms": 500,
                    "idle_timeout_ms": None,
                    "create_response": True,
                    "interrupt_response": True,
                },
            }
        },
        "include": None,
    }


def test_a_turn_is_transcribed_and_not_answered(player: Player) -> None:
    item_id = player.says(1000)
    events = player.hears(item_id, "Hello there.")

    assert types(events) == [
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
    ]
    assert player.of(StartGeneration) == []
    player.finish()


def test_words_that_were_talked_over_are_not_answered_later_either(player: Player) -> None:
    first = player.says(1000)
    player.starts()
    player.hears(first, "Hello")
    player.hears(one(player.stops(), "input_audio_buffer.committed")["item_id"], "")

    assert "response.created" not in types(player.events)
    player.finish()


def test_asking_for_a_response_is_an_error_and_the_session_goes_on(player: Player) -> None:
    error = error_of(player.send("response.create", event_id="e1"))

    assert (error["code"], error["param"], error["event_id"]) == ("invalid_value", "type", "e1")
    player.hears(player.says(500), "Still here.")
    player.finish()


def test_an_update_changes_what_it_names(player: Player) -> None:
    events = player.send(
        "session.update",
        session={
            "type": "transcription",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcmu"},
                    "transcription": {"language": "en", "prompt": "names of cities"},
                    "turn_detection": None,
                }
            },
        },
    )

    heard = one(events, "session.updated")["session"]["audio"]["input"]
    assert heard["format"] == {"type": "audio/pcmu"}
    assert heard["transcription"] == {
        "model": "tiny.en",
        "language": "en",
        "prompt": "names of cities",
    }
    assert heard["turn_detection"] is None


@pytest.mark.parametrize(
    ("session", "code", "param"),
    [
        ({"type": "realtime", "instructions": "x"}, "invalid_parameter", "session.type"),
        (
            {"type": "transcription", "instructions": "x"},
            "unknown_parameter",
            "session.instructions",
        ),
        (
            {"type": "transcription", "audio": {"output": {"voice": "ash"}}},
            "unknown_parameter",
            "session.audio.output",
        ),
        (
            {"type": "transcription", "include": ["turn.waterfall"]},
            "invalid_value",
            "session.include[0]",
        ),
    ],
)
def test_what_belongs_to_a_conversation_is_refused(
    player: Player, session: dict[str, object], code: str, param: str
) -> None:
    error = error_of(player.send("session.update", session=session))

    assert (error["code"], error["param"]) == (code, param)


def test_a_conversation_refuses_to_become_a_transcription() -> None:
    error = error_of(Player().send("session.update", session={"type": "transcription"}))

    assert (error["code"], error["param"]) == ("invalid_parameter", "session.type")
    assert "transcription session update event to a realtime session" in error["message"]
