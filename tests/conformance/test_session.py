"""What a session shows, and what an update changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event
    from .realtime_conformance.target import Target

SERVER_VAD = {
    "type": "server_vad",
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": 500,
    "create_response": True,
    "interrupt_response": True,
}
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def turn_detection(session: Event) -> Any:
    return session["audio"]["input"]["turn_detection"]


def unchanged(client: Client, before: Event) -> None:
    """The session is what it was."""
    assert client.update() == before


def refusal(client: Client, session: Event) -> Event:
    """The error of an update; nothing of it may have been applied."""
    before = client.update()
    since = client.mark()
    event_id = client.send("session.update", session=session)
    error = client.error(event_id)
    assert error["type"] == "invalid_request_error"
    assert "session.updated" not in client.types[since:]
    unchanged(client, before)
    return error


@check("session/11", CORE)
def test_session_created_shows_every_setting(client: Client) -> None:
    session = client.received[0]["session"]
    assert session["type"] == "realtime"
    assert session["object"] == "realtime.session"
    assert session["id"].startswith("sess_")
    assert session["output_modalities"] == ["audio"]
    assert session["tools"] == []
    assert session["tool_choice"] == "auto"
    assert session["max_output_tokens"] == "inf"
    names = ("model", "instructions", "tracing", "truncation", "prompt", "expires_at", "include")
    assert set(names) <= set(session)
    read = {"format", "transcription", "noise_reduction", "turn_detection"}
    assert read <= set(session["audio"]["input"])
    assert {"format", "voice", "speed"} <= set(session["audio"]["output"])


@check("session/model", CORE)
def test_session_created_shows_the_model_of_the_url(client: Client, target: Target) -> None:
    assert client.received[0]["session"]["model"] == target.model


@check("session/12", CORE)
def test_an_update_changes_its_fields_and_no_other(client: Client) -> None:
    before = client.update()
    after = client.update(instructions="X")
    assert after == before | {"instructions": "X"}


@check("session/13", CORE)
def test_an_update_without_a_type_is_refused(client: Client) -> None:
    error = refusal(client, {"instructions": "X"})
    assert error["code"] == "missing_required_parameter"
    assert error["param"] == "session.type"


@check("session/missing", FULL)
def test_an_update_without_a_session_is_refused(client: Client) -> None:
    error = client.error(client.send("session.update"))
    assert error["code"] == "missing_required_parameter"
    assert error["param"] == "session"


@check("session/14", CORE)
def test_semantic_vad_fills_its_own_defaults_and_drops_those_of_server_vad(client: Client) -> None:
    shown = turn_detection(client.listen(turn_detection={"type": "semantic_vad"}))
    assert shown["eagerness"] == "auto"
    assert shown["create_response"] is True
    assert shown["interrupt_response"] is True
    assert not {"threshold", "prefix_padding_ms", "silence_duration_ms"} & set(shown)


@check("session/15", CORE)
def test_turn_detection_can_be_switched_off_and_on_with_all_defaults(client: Client) -> None:
    assert turn_detection(client.listen(turn_detection=None)) is None
    shown = turn_detection(client.listen(turn_detection={"type": "server_vad"}))
    assert {name: shown[name] for name in SERVER_VAD} == SERVER_VAD


@check("session/tune", CORE)
def test_one_field_of_turn_detection_is_tuned_without_the_others(client: Client) -> None:
    client.listen(turn_detection={"type": "server_vad", "silence_duration_ms": 700})
    shown = turn_detection(client.listen(turn_detection={"type": "server_vad", "threshold": 0.8}))
    assert shown["threshold"] == 0.8
    assert shown["silence_duration_ms"] == 700


@check("session/16", CORE)
def test_another_model_in_an_update_is_no_error_and_changes_nothing(
    client: Client, target: Target
) -> None:
    assert client.update(model="gpt-realtime-2.1-other")["model"] == target.model


@check("session/17", CORE)
def test_tracing_is_echoed_right_after_the_greeting(client: Client) -> None:
    assert client.update(tracing="auto")["tracing"] == "auto"


@check("session/stock", CORE)
def test_the_first_update_of_stock_agents_is_accepted(client: Client) -> None:
    pcm = {"type": "audio/pcm", "rate": 24000}
    shown = client.update(
        model="gpt-realtime-2.1",
        instructions="Be kind.",
        output_modalities=["audio"],
        tool_choice="auto",
        tools=[TOOL | {"strict": True}],
        audio={
            "input": {
                "format": pcm,
                "transcription": {"model": "gpt-4o-mini-transcribe"},
                "turn_detection": {"type": "semantic_vad", "interrupt_response": True},
                "noise_reduction": None,
            },
            "output": {"format": pcm, "voice": "ash", "speed": 1},
        },
    )
    assert turn_detection(shown)["interrupt_response"] is True
    assert shown["audio"]["output"]["voice"] == "ash"
    assert shown["tools"][0]["name"] == "get_weather"


@check("session/23", FULL)
@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
def test_formats_of_telephony_are_echoed(client: Client, kind: str) -> None:
    formats = {"format": {"type": kind}}
    shown = client.update(audio={"input": formats, "output": formats})["audio"]
    assert shown["input"]["format"] == shown["output"]["format"] == {"type": kind}


@check("session/25", FULL)
def test_the_voice_is_fixed_once_the_assistant_was_heard(client: Client) -> None:
    voice = client.update()["audio"]["output"]["voice"]
    assert client.ask("Say exactly: Hello.")["status"] == "completed"
    other = "cedar" if voice != "cedar" else "marin"
    session = {"type": "realtime", "audio": {"output": {"voice": other}}}
    assert refusal(client, session)["code"] == "cannot_update_voice"
    assert client.update(audio={"output": {"voice": voice}})["audio"]["output"]["voice"] == voice


@check("session/26", FULL)
def test_a_realtime_session_does_not_become_one_of_transcription(client: Client) -> None:
    refusal(client, {"type": "transcription"})


@check("session/beta", FULL)
def test_the_update_event_of_the_beta_is_unknown(client: Client) -> None:
    error = client.error(client.send("transcription_session.update", session={}))
    assert error["code"] == "invalid_value"
    assert error["param"] == "type"
