"""Text frames in, structs out; what is no event is named and nothing else happens."""

from __future__ import annotations

import json

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.codec import decode, encode
from tests.protocol.playing import Player, error_of


def refused(raw: str | bytes) -> ClientError:
    with pytest.raises(ClientError) as caught:
        decode(raw)
    return caught.value


@pytest.mark.parametrize(
    ("raw", "code", "param"),
    [
        ("", "invalid_json", None),
        ("{", "invalid_json", None),
        ("hello", "invalid_json", None),
        ("[" * 1_000_000, "invalid_json", None),
        ('{"a":' * 200_000, "invalid_json", None),
        ('{"type": NaN}', "invalid_json", None),
        ('{"type": "response.cancel"} {}', "invalid_json", None),
        (b"\xff\xfe", "invalid_json", None),
        ("\ud800", "invalid_json", None),
        ("[]", "invalid_value", None),
        ("5", "invalid_value", None),
        ("null", "invalid_value", None),
        ('"response.cancel"', "invalid_value", None),
        ("{}", "missing_required_parameter", "type"),
        ('{"type": null}', "missing_required_parameter", "type"),
        ('{"type": 5}', "invalid_type", "type"),
        ('{"type": ["response.cancel"]}', "invalid_type", "type"),
        ('{"type": "scooby.dooby.doo"}', "invalid_value", "type"),
        ('{"type": "transcription_session.update"}', "invalid_value", "type"),
        ('{"type": ""}', "invalid_value", "type"),
        ('{"type": "response.cancel", "x": 1}', "unknown_parameter", "x"),
        ('{"type": "session.update"}', "missing_required_parameter", "session"),
        ('{"type": "session.update", "session": []}', "invalid_type", "session"),
        ('{"type": "input_audio_buffer.append"}', "missing_required_parameter", "audio"),
        ('{"type": "response.cancel", "event_id": 5}', "invalid_type", "event_id"),
    ],
)
def test_what_is_no_event_is_named(raw: str | bytes, code: str, param: str | None) -> None:
    error = refused(raw)

    assert (error.code, error.param, error.event_id) == (code, param, None)


@pytest.mark.parametrize("raw", ["{", "[]", "5", "null", "[" * 1_000_000, "{}"])
def test_the_session_goes_on_after_garbage(raw: str) -> None:
    player = Player()
    error = error_of(player.send_raw(raw))
    assert error["type"] == "invalid_request_error"

    player.answers(player.respond(), "Still here.")
    player.finish()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "scooby.dooby.doo"},
        {"type": None},
        {},
        {"type": "session.update"},
        {"type": "response.cancel", "surprise": 1},
        {"type": "conversation.item.truncate", "item_id": "a", "content_index": 0},
        {"type": "conversation.item.truncate", "audio_end_ms": int("9" * 400)},
    ],
)
def test_the_error_names_the_event(event: dict[str, object]) -> None:
    error = refused(json.dumps({"event_id": "my_event", **event}))

    assert error.event_id == "my_event"


def test_a_number_too_big_to_be_read_still_names_the_event() -> None:
    big = "9" * 10_000
    raw = f'{{"type": "session.update", "session": {{"big": {big}}}, "event_id": "my_event"}}'
    error = refused(raw)

    assert (error.code, error.event_id) == ("invalid_json", "my_event")


def test_an_event_id_has_at_most_512_characters() -> None:
    assert decode(json.dumps({"type": "response.cancel", "event_id": "x" * 512})).event_id
    error = refused(json.dumps({"type": "response.cancel", "event_id": "x" * 513}))

    assert (error.code, error.param) == ("string_above_max_length", "event_id")
    assert error.event_id is None


def test_an_event_id_may_be_null_or_missing() -> None:
    assert decode('{"type": "response.cancel", "event_id": null}').event_id is None
    assert decode('{"type": "response.cancel"}').event_id is None


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ('{"type": "session.update", "session": {}}', ce.SessionUpdate),
        ('{"type": "input_audio_buffer.append", "audio": "AAA="}', ce.AudioAppend),
        ('{"type": "input_audio_buffer.commit"}', ce.AudioCommit),
        ('{"type": "input_audio_buffer.clear"}', ce.AudioClear),
        (
            (
                '{"type": "conversation.item.create", "item": {"type": "message", "role": "user",'
                ' "content": []}}'
            ),
            ce.ItemCreate,
        ),
        ('{"type": "conversation.item.delete", "item_id": "a"}', ce.ItemDelete),
        ('{"type": "conversation.item.retrieve", "item_id": "a"}', ce.ItemRetrieve),
        (
            (
                '{"type": "conversation.item.truncate", "item_id": "a", "content_index": 0,'
                ' "audio_end_ms": 0}'
            ),
            ce.ItemTruncate,
        ),
        ('{"type": "response.create"}', ce.ResponseCreate),
        ('{"type": "response.create", "response": null}', ce.ResponseCreate),
        ('{"type": "response.cancel"}', ce.ResponseCancel),
        ('{"type": "response.cancel", "response_id": null}', ce.ResponseCancel),
        ('{"type": "output_audio_buffer.clear"}', ce.OutputAudioClear),
    ],
)
def test_every_client_event_is_known(raw: str, kind: type) -> None:
    assert type(decode(raw)) is kind


def test_the_order_of_keys_does_not_matter() -> None:
    assert decode('{"audio": "AAA=", "type": "input_audio_buffer.append"}') == ce.AudioAppend(
        audio="AAA="
    )


def test_unicode_comes_through_both_ways() -> None:
    text = "日本 🎉 \u200b \u0000 é"
    raw = json.dumps({"type": "conversation.item.delete", "item_id": text})
    event = decode(raw)
    assert isinstance(event, ce.ItemDelete)
    assert event.item_id == text

    assert json.loads(encode(ev.ItemDeleted(item_id=text)))["item_id"] == text


def test_half_a_surrogate_pair_is_refused_or_survives() -> None:
    raw = '{"type": "conversation.item.delete", "item_id": "\\ud83d", "event_id": "e1"}'
    assert refused(raw).code == "invalid_json"


def test_the_type_of_an_unknown_event_is_told_shortly() -> None:
    error = refused(json.dumps({"type": "x" * 100_000}))

    assert len(error.message) < 1000


@pytest.mark.parametrize("depth", [129, 500, 900, 940, 960, 980, 985, 990, 995])
def test_deep_nesting_is_refused_before_it_can_do_harm(depth: int) -> None:
    player = Player()
    parameters = '{"a":' * depth + "1" + "}" * depth
    tool = '{"type": "function", "name": "f", "parameters": ' + parameters + "}"
    for raw in (
        '{"type": "session.update", "session": {"type": "realtime", "tools": [' + tool + "]}}",
        '{"type": "response.create", "response": {"tools": [' + tool + "]}}",
    ):
        error = error_of(player.send_raw(raw))
        assert error["code"] in ("invalid_value", "invalid_json")

    assert player.talk.tools == []


def test_nesting_that_people_use_is_taken() -> None:
    player = Player()
    parameters: dict[str, object] = {}
    for _ in range(60):
        parameters = {"properties": parameters}
    tool = {"type": "function", "name": "f", "parameters": parameters}

    assert player.update(tools=[tool])[0]["session"]["tools"] == [tool]
