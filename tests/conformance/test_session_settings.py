"""Single settings of a session: which are refused, and which are shown."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .test_session import TOOL, refusal

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event


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
    session: Event = {"type": "realtime", "instructions": "X"} | nested(path, OUT_OF_RANGE[path])
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
    session: Event = {"type": "realtime"} | nested(path, WRONG_TYPE[path])
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
