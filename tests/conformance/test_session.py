"""What a session shows, and what an update changes."""

from __future__ import annotations

import copy
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


@check("session/19", FULL)
@pytest.mark.parametrize(
    "path", ["voice", "modalities", "temperature", "audio.output.nope", "audio.input.nope"]
)
def test_an_unknown_field_is_refused_by_its_name(client: Client, path: str) -> None:
    error = refusal(client, {"type": "realtime"} | nested(path, "x"))
    assert error["code"] == "unknown_parameter"
    assert error["param"] == f"session.{path}"


def nested(path: str, value: Any) -> Event:
    """A value at a dotted path."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


@check("session/20", FULL)
def test_both_modalities_at_once_are_refused(client: Client) -> None:
    session = {"type": "realtime", "output_modalities": ["text", "audio"], "instructions": "X"}
    error = refusal(client, session)
    assert error["code"] == "invalid_value"
    assert error["param"].startswith("session.output_modalities")


OUT_OF_RANGE: dict[str, Any] = {
    "audio.output.speed": 2.0,
    "audio.input.turn_detection.threshold": 1.5,
    "audio.input.turn_detection.idle_timeout_ms": 1000,
    "max_output_tokens": 0,
    "audio.input.format": {"type": "audio/pcm", "rate": 16000},
    "tool_choice": "sometimes",
    "truncation": {"type": "retention_ratio", "retention_ratio": 1.5},
    "include": ["nothing.known"],
}


@check("session/22", FULL)
@pytest.mark.parametrize("path", list(OUT_OF_RANGE))
def test_a_value_out_of_range_is_refused_by_its_path(client: Client, path: str) -> None:
    session = {"type": "realtime", "instructions": "X"} | nested(path, OUT_OF_RANGE[path])
    if "turn_detection" in path:
        session["audio"]["input"]["turn_detection"]["type"] = "server_vad"
    error = refusal(client, session)
    assert error["param"].startswith(f"session.{path}")


WRONG_TYPE: dict[str, Any] = {
    "instructions": 7,
    "tools": "none",
    "audio.input.turn_detection.create_response": None,
    "audio.input.transcription.model": 7,
    "audio.output.speed": "fast",
}


@check("session/types", FULL)
@pytest.mark.parametrize("path", list(WRONG_TYPE))
def test_a_wrong_json_type_is_refused_by_its_path(client: Client, path: str) -> None:
    session = {"type": "realtime"} | nested(path, WRONG_TYPE[path])
    if "turn_detection" in path:
        session["audio"]["input"]["turn_detection"]["type"] = "server_vad"
    error = refusal(client, session)
    assert error["code"] == "invalid_type"
    assert error["param"] == f"session.{path}"


ECHOED: dict[str, Any] = {
    "audio.input.noise_reduction": {"type": "near_field"},
    "audio.output.speed": 1.25,
    "audio.output.voice": "cedar",
    "max_output_tokens": 100,
    "output_modalities": ["text"],
    "parallel_tool_calls": False,
    "prompt": {"id": "pmpt_1", "version": "2"},
    "include": ["item.input_audio_transcription.logprobs"],
    "truncation": {"type": "retention_ratio", "retention_ratio": 0.8},
    "truncation-tokens": {
        "type": "retention_ratio",
        "retention_ratio": 0.5,
        "token_limits": {"post_instructions": 2000},
    },
    "truncation-off": "disabled",
    "tracing": {"workflow_name": "w", "group_id": "g", "metadata": {"a": "b"}},
    "tool_choice": "required",
    "reasoning": {"effort": "low"},
}


@check("session/echo", FULL)
@pytest.mark.parametrize("path", list(ECHOED))
def test_a_setting_is_accepted_and_echoed(client: Client, path: str) -> None:
    name, wanted = path.partition("-")[0], ECHOED[path]
    shown: Any = client.update(**nested(name, copy.deepcopy(wanted)))
    for step in name.split("."):
        shown = shown[step]
    assert shown == wanted


@check("session/transcription", FULL)
def test_the_settings_of_transcription_merge_and_null_clears_them(client: Client) -> None:
    model = "gpt-4o-transcribe"
    client.listen(transcription={"model": model, "language": "en"})
    shown = client.listen(transcription={"prompt": "names"})["audio"]["input"]["transcription"]
    assert shown == {"model": model, "language": "en", "prompt": "names"}
    assert client.listen(transcription=None)["audio"]["input"]["transcription"] is None


@check("session/null", FULL)
@pytest.mark.parametrize("name", ["tracing", "prompt"])
def test_null_clears_a_setting_that_may_be_null(client: Client, name: str) -> None:
    if name == "prompt":
        client.update(prompt={"id": "pmpt_1"})
    assert client.update(**{name: None})[name] is None


@check("session/noise", FULL)
def test_null_clears_noise_reduction(client: Client) -> None:
    client.listen(noise_reduction={"type": "far_field"})
    assert client.listen(noise_reduction=None)["audio"]["input"]["noise_reduction"] is None


@check("session/empty", CORE)
def test_empty_values_clear_instructions_and_tools(client: Client) -> None:
    client.update(instructions="X", tools=[TOOL])
    shown = client.update(instructions="", tools=[])
    assert shown["instructions"] == ""
    assert shown["tools"] == []


@check("session/tools", CORE)
def test_tools_are_replaced_as_a_whole(client: Client) -> None:
    client.update(tools=[TOOL, TOOL | {"name": "other"}])
    shown = client.update(tools=[TOOL | {"name": "third"}])["tools"]
    assert [tool["name"] for tool in shown] == ["third"]


@check("session/tool-choice", FULL)
def test_one_function_may_be_the_choice(client: Client) -> None:
    choice = {"type": "function", "name": "get_weather"}
    assert client.update(tools=[TOOL], tool_choice=choice)["tool_choice"] == choice


@check("session/atomic", CORE)
def test_nothing_of_a_bad_update_is_applied(client: Client) -> None:
    refusal(client, {"type": "realtime", "instructions": "X", "tool_choice": 7})


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
