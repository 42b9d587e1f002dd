"""Large events are looked at before they are decoded, and refused by the name of the field."""

from __future__ import annotations

import base64
import json
import tracemalloc
from typing import Any

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol.codec import decode
from s2s_actors.protocol.event_sizes import (
    MAX_INSTRUCTIONS_BYTES,
    MAX_PLAIN_BYTES,
    MAX_SETTINGS_BYTES,
    MAX_TOOLS_BYTES,
)
from tests.protocol.playing import Player, error_of, speech, types, user_text

MIB = 1024 * 1024
TOO_LARGE = "string_above_max_length"


def refusal(event: object) -> ClientError:
    with pytest.raises(ClientError) as refused:
        decode(event if isinstance(event, str | bytes) else json.dumps(event))
    return refused.value


def update(**session: Any) -> dict[str, Any]:
    return {"type": "session.update", "event_id": "e1", "session": {"type": "realtime"} | session}


def tool(schema: object) -> dict[str, Any]:
    return {"type": "function", "name": "look", "parameters": schema}


# --- which field is too large -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["session", "response"])
def test_ten_megabytes_of_schema_are_refused_by_name(kind: str) -> None:
    event = {"session": "session.update", "response": "response.create"}[kind]
    schema = {f"field_{n}": {"type": "string", "description": "x" * 1000} for n in range(10_000)}
    error = refusal({"type": event, "event_id": "e1", kind: {"tools": [tool(schema)]}})
    assert (error.code, error.param, error.event_id) == (TOO_LARGE, f"{kind}.tools", "e1")
    assert str(MAX_TOOLS_BYTES) in error.message


@pytest.mark.parametrize("kind", ["session", "response"])
def test_instructions_without_end_are_refused_by_name(kind: str) -> None:
    event = {"session": "session.update", "response": "response.create"}[kind]
    error = refusal({"type": event, kind: {"instructions": "x" * MAX_INSTRUCTIONS_BYTES}})
    assert (error.code, error.param) == (TOO_LARGE, f"{kind}.instructions")


def test_other_settings_without_end_are_refused() -> None:
    variables = {"prompt": {"id": "p", "variables": {"a": "x" * MAX_SETTINGS_BYTES}}}
    assert refusal(update(**variables)).code == TOO_LARGE
    twice = '{"type":"session.update","session":{"a":"%s"},"session":{}}' % ("x" * 3 * MIB)
    assert refusal(twice).code == TOO_LARGE


@pytest.mark.parametrize(
    "event",
    [
        {"type": "conversation.item.delete", "item_id": "x" * MAX_PLAIN_BYTES},
        {"type": "input_audio_buffer.append", "audio": "AAAA", "more": "x" * MAX_PLAIN_BYTES},
        {"type": "conversation.item.create", "item": {}, "previous_item_id": "x" * MAX_PLAIN_BYTES},
        {"type": "unknown", "x": "x" * MAX_PLAIN_BYTES},
        {"type": "t" * MAX_PLAIN_BYTES},
        {"type": ["t"] * MAX_PLAIN_BYTES},
        {"x": "x" * MAX_PLAIN_BYTES},
    ],
)
def test_events_that_carry_nothing_large_are_refused_if_they_are(event: dict[str, Any]) -> None:
    error = refusal(event | {"event_id": "e1"})
    assert (error.code, error.event_id) == (TOO_LARGE, "e1")
    assert len(error.message) < 1000


# --- what may be large --------------------------------------------------------------------


def test_audio_items_and_settings_within_their_limits_pass() -> None:
    audio = base64.b64encode(speech(60_000)).decode()
    assert isinstance(
        decode(json.dumps({"type": "input_audio_buffer.append", "audio": audio})), ce.AudioAppend
    )
    item = user_text("x" * 3 * MIB)
    create = {"type": "conversation.item.create", "item": item}
    assert isinstance(decode(json.dumps(create)), ce.ItemCreate)
    respond = {"type": "response.create", "response": {"input": [item]}}
    assert isinstance(decode(json.dumps(respond)), ce.ResponseCreate)
    settings = update(instructions="x" * 200_000, tools=[tool({"a": "x" * 900_000})])
    assert isinstance(decode(json.dumps(settings)), ce.SessionUpdate)


def test_a_large_event_is_checked_as_strictly_as_a_small_one() -> None:
    padded = user_text("x" * 100_000)
    error = refusal({"type": "conversation.item.create", "item": padded | {"colour": "red"}})
    assert (error.code, error.param) == ("unknown_parameter", "item.colour")
    error = refusal({"type": "input_audio_buffer.append", "audio": ["x" * 100_000]})
    assert (error.code, error.param) == ("invalid_type", "audio")
    assert refusal('["' + "x" * 100_000 + '"]').code == "invalid_value"
    assert refusal('{"a":"' + "x" * 100_000).code == "invalid_json"
    assert refusal(b'{"a":"\xff' + b"x" * 100_000 + b'"}').code in ("invalid_json", TOO_LARGE)
    assert refusal("\ud800" * 100_000).code == "invalid_json"


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"type":"session.update","session":{"x":['])
def test_deep_json_is_refused(opening: str) -> None:
    assert refusal(opening * 1_000_000).code in ("invalid_json", "invalid_value")


@pytest.mark.parametrize(
    "event",
    [
        '{"type":"session.update","session":{"x":[%s]}}',
        '{"type":"session.update","event_id":5,"session":{"x":[%s]}}',
        '{"type":"conversation.item.create","item":{"type":"message","x":[%s]}}',
        '{"type":"conversation.item.create","item":{"x":[%s]}}',
        '{"type":"response.create","response":{"input":[{"x":[%s]}]}}',
        '{"type":"unknown","x":[%s]}',
        "[%s]",
    ],
)
def test_nothing_is_made_of_what_does_not_belong_there(event: str) -> None:
    raw = (event % ",".join(["{}"] * 1_000_000)).encode()
    tracemalloc.start()
    try:
        refusal(raw)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2 * len(raw), f"{len(raw)} bytes became {peak_bytes}"


def test_a_session_goes_on_as_it_was_after_an_update_that_is_too_large() -> None:
    player = Player()
    before = player.talk
    refused = player.send("session.update", session={"instructions": "x" * MIB})
    assert error_of(refused)["param"] == "session.instructions"
    assert player.talk == before
    assert types(player.update(instructions="Short.")) == ["session.updated"]
