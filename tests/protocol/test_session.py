"""The effective session that clients see: complete, with every default."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol.outputs import StartMcpListing
from s2s_actors.protocol.session_start import SessionStart
from tests.protocol.playing import START, Player

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER_VAD = {
    "type": "server_vad",
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": 500,
    "idle_timeout_ms": None,
    "create_response": True,
    "interrupt_response": True,
}


def test_a_new_session_shows_every_default() -> None:
    player = Player()

    assert player.events[0]["session"] == {
        "type": "realtime",
        "object": "realtime.session",
        "id": "sess_1",
        "model": "local-cascade",
        "output_modalities": ["audio"],
        "instructions": "Be kind.",
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "prompt": None,
        "expires_at": 1_999_999_999,
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "transcription": None,
                "noise_reduction": None,
                "turn_detection": SERVER_VAD,
            },
            "output": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "voice": "alloy",
                "speed": 1.0,
            },
        },
        "include": None,
    }


def test_the_session_is_the_first_event_and_the_only_one() -> None:
    player = Player()

    assert [event["type"] for event in player.events] == ["session.created"]


def test_the_end_of_the_session_is_set_when_it_begins() -> None:
    player = Player(SessionStart("sess_2", "m", "", 0.25, 1))

    assert player.work.timers == {"session": 250}


def test_a_semantic_session_shows_its_own_defaults() -> None:
    player = Player()
    (updated,) = player.update_input(turn_detection={"type": "semantic_vad"})

    assert updated["session"]["audio"]["input"]["turn_detection"] == {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    }


def test_detection_that_comes_back_has_its_defaults_again() -> None:
    player = Player()
    player.update_input(turn_detection={"type": "server_vad", "threshold": 0.9})
    (off,) = player.update_input(turn_detection=None)
    assert off["session"]["audio"]["input"]["turn_detection"] is None

    (on,) = player.update_input(turn_detection={"type": "server_vad"})
    assert on["session"]["audio"]["input"]["turn_detection"] == SERVER_VAD


def begun(settings: Mapping[str, Any]) -> Player:
    """A session with settings that were made before it began."""
    return Player(replace(START, settings=settings))


def test_what_was_set_beforehand_is_there_from_the_first_event_on() -> None:
    player = begun(
        {
            "type": "realtime",
            "instructions": "Speak like a pirate.",
            "audio": {"output": {"voice": "marin"}, "input": {"turn_detection": None}},
        }
    )
    created = player.events[0]["session"]
    assert created["instructions"] == "Speak like a pirate."
    assert created["audio"]["output"]["voice"] == "marin"
    assert created["audio"]["input"]["turn_detection"] is None
    assert created["model"] == "local-cascade", "all else keeps its default"
    assert player.dialogue.session.audio.input.turn_detection is None


def test_an_mcp_server_that_was_set_beforehand_is_asked_and_its_secrets_stay_hidden() -> None:
    server = {
        "type": "mcp",
        "server_label": "meteo",
        "server_url": "http://127.0.0.1:9/mcp",
        "authorization": "canary",
    }
    player = begun({"type": "realtime", "tools": [server]})
    assert "canary" not in str(player.events)
    listings = [each for each in player.asked if isinstance(each, StartMcpListing)]
    assert [each.server.authorization for each in listings] == ["canary"]


def test_settings_that_are_not_acceptable_are_refused_before_there_is_a_session() -> None:
    with pytest.raises(ClientError) as refused:
        replace(START, settings={"type": "realtime", "audio": {"output": {"speed": 9}}}).session()
    assert refused.value.param == "session.audio.output.speed"
    with pytest.raises(ClientError) as refused:
        replace(START, settings={"type": "transcription"}).session()
    assert refused.value.param == "session.type"


def test_settings_made_beforehand_are_in_no_repr() -> None:
    assert "canary" not in repr(replace(START, settings={"instructions": "canary"}))
