"""Whatever a client gets wrong is answered, named, and closes nothing."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .realtime_conformance.client import Client, Event

MESSAGE: Event = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "Hello."}],
}
EVENTS: dict[str, Event] = {
    "session.update": {"session": {"type": "realtime"}},
    "input_audio_buffer.append": {"audio": ""},
    "conversation.item.create": {"item": MESSAGE},
    "conversation.item.retrieve": {"item_id": "item_nosuch"},
    "conversation.item.delete": {"item_id": "item_nosuch"},
    "conversation.item.truncate": {
        "item_id": "item_nosuch",
        "content_index": 0,
        "audio_end_ms": 10,
    },
}
"""Client events with the fields that they must have."""
OPTIONAL: dict[str, Event] = {
    "conversation.item.create": {"item": MESSAGE, "previous_item_id": "root"},
    "response.create": {"response": {}},
    "response.cancel": {"response_id": "resp_nosuch"},
}
WRONG: tuple[Any, ...] = (7, True, [7], {"surprise": 1}, "surprise")


def answered(client: Client, kind: str, fields: Event) -> Event:
    """The error of an event; the session stays as it was."""
    since = client.mark()
    error = client.error(client.send(kind, **fields))
    assert error["type"] == "invalid_request_error", error
    assert error["message"]
    client.sync()
    others = [t for t in client.types[since:] if t not in ("error", "session.updated")]
    assert not others
    return error


@check("error/90", CORE)
def test_an_unknown_type_is_named(client: Client) -> None:
    client.send_event({"event_id": "e1", "type": "scooby.dooby.doo"})
    error = client.error("e1")
    assert error["type"] == "invalid_request_error"
    assert error["code"] == "invalid_value"
    assert error["param"] == "type"
    client.sync()


FRAMES = {"no JSON": "hello", "an array": "[1]", "no type": '{"event_id": "e1"}', "empty": ""}


@check("error/91", CORE)
@pytest.mark.parametrize("kind", list(FRAMES))
def test_a_frame_that_is_no_event_gets_an_error(client: Client, kind: str) -> None:
    if kind == "no type":
        client.send_event({"event_id": "e1"})
    elif kind == "an array":
        client.send_event([1])
    else:
        client.send_frame(FRAMES[kind])
    assert client.error()["type"] == "invalid_request_error"
    client.sync()


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in pairs:
        yield (*path, step)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*path, step))


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as errors write it."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def place(value: Any, path: tuple[str | int, ...]) -> Any:
    """What is at the end of a path."""
    for step in path:
        value = value[step]
    return value


@check("error/93-missing", FULL)
@pytest.mark.parametrize("kind", list(EVENTS))
def test_each_required_field_is_missed_by_its_name(client: Client, kind: str) -> None:
    for path in paths(EVENTS[kind]):
        if isinstance(path[-1], int):
            continue
        fields = copy.deepcopy(EVENTS[kind])
        del place(fields, path[:-1])[path[-1]]
        error = answered(client, kind, fields)
        assert error["code"] == "missing_required_parameter", dotted(path)
        assert error["param"] == dotted(path)


@check("error/93-type", FULL)
@pytest.mark.parametrize("kind", [*EVENTS, *sorted({*OPTIONAL} - {*EVENTS})])
def test_each_field_of_a_wrong_type_is_named(client: Client, kind: str) -> None:
    right = OPTIONAL.get(kind, EVENTS.get(kind, {}))
    for path in paths(right):
        for wrong in WRONG:
            if type(wrong) is type(place(right, path)):
                continue
            fields = copy.deepcopy(right)
            place(fields, path[:-1])[path[-1]] = wrong
            param = answered(client, kind, fields)["param"]
            assert param is not None, (path, wrong)
            assert param.startswith(dotted(path)), (param, path, wrong)


@check("error/unknown-field", FULL)
@pytest.mark.parametrize("kind", [*EVENTS, "response.create", "input_audio_buffer.commit"])
def test_an_unknown_field_of_an_event_is_named(client: Client, kind: str) -> None:
    error = answered(client, kind, EVENTS.get(kind, {}) | {"surprise": 1})
    assert error["code"] == "unknown_parameter"
    assert error["param"] == "surprise"


@check("error/94", FULL)
def test_clearing_the_output_is_answered_and_closes_nothing(client: Client) -> None:
    event_id = client.send("output_audio_buffer.clear")
    assert client.error(event_id)["message"]
    client.sync()


@check("error/event-id", CORE)
def test_an_error_repeats_the_event_id(client: Client) -> None:
    event_id = client.send("conversation.item.delete", item_id="item_nosuch")
    assert client.error(event_id)["event_id"] == event_id


@check("error/no-event-id", CORE)
def test_an_error_about_an_event_without_id_names_none(client: Client) -> None:
    client.send_event({"type": "conversation.item.delete", "item_id": "item_nosuch"})
    assert client.error().get("event_id") is None


@check("error/long-event-id", FULL)
def test_an_event_id_of_more_than_512_characters_is_refused(client: Client) -> None:
    client.send_event({"type": "input_audio_buffer.clear", "event_id": "x" * 513})
    error = client.error()
    assert error["code"] == "string_above_max_length"
    assert error["param"] == "event_id"


@check("error/deep", FULL)
def test_deep_nesting_is_refused_and_closes_nothing(client: Client) -> None:
    client.send_frame('{"type": "session.update", "session": ' + "[" * 50_000 + "]" * 50_000 + "}")
    client.error()
    client.sync()
