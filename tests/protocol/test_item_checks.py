"""What a client may put into the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.playing import Player, error_of, types, user_text

CREATE = "conversation.item.create"


@pytest.fixture
def player() -> Player:
    return Player()


def message(role: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(parts), **fields}


def test_a_message_gets_an_id_and_is_complete(player: Player) -> None:
    added, done = player.send(CREATE, item=user_text("Hello."))
    item = added["item"]

    assert types([added, done]) == ["conversation.item.added", "conversation.item.done"]
    assert item == done["item"]
    assert item["id"].startswith("item_")
    assert len(item["id"]) <= 32
    assert (item["object"], item["status"]) == ("realtime.item", "completed")
    assert item["content"] == [{"type": "input_text", "text": "Hello."}]


@pytest.mark.parametrize("length", [1, 32])
def test_the_clients_id_is_kept(player: Player, length: int) -> None:
    events = player.send(CREATE, item=user_text("Hello.", id="x" * length))

    assert [event["item"]["id"] for event in events] == ["x" * length] * 2


def test_an_id_of_more_than_32_characters_is_refused(player: Player) -> None:
    error = error_of(player.send(CREATE, item=user_text("Hello.", id="x" * 39), event_id="e1"))

    assert (error["code"], error["param"]) == ("string_above_max_length", "item.id")
    assert error["message"] == (
        "Invalid 'item.id': string too long. Expected a string with maximum length 32, "
        "but got a string with length 39 instead."
    )
    assert error["event_id"] == "e1"


def test_an_id_is_used_once(player: Player) -> None:
    player.send(CREATE, item=user_text("One.", id="mine"))
    error = error_of(player.send(CREATE, item=user_text("Two.", id="mine")))

    assert (error["code"], error["param"]) == ("item_id_already_exists", "item.id")
    assert [item["content"][0]["text"] for item in player.items()] == ["One."]


@pytest.mark.parametrize("status", ["in_progress", "incomplete", "completed"])
def test_whatever_its_status_it_is_complete_in_the_conversation(
    player: Player, status: str
) -> None:
    events = player.send(CREATE, item=user_text("Hello.", status=status))

    assert events[0]["item"]["status"] == "completed"


TEXT = {"type": "input_text", "text": "x"}
SAID = {"type": "output_text", "text": "x"}
SPOKEN = {"type": "output_audio", "transcript": "x"}
VOICE = {"type": "input_audio", "audio": "AAAA"}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


@pytest.mark.parametrize(("role", "part"), [("user", TEXT), ("system", TEXT), ("assistant", SAID)])
def test_each_role_has_its_text(player: Player, role: str, part: dict[str, Any]) -> None:
    events = player.send(CREATE, item=message(role, part, part))

    assert events[0]["item"]["content"] == [part, part]


@pytest.mark.parametrize(
    ("role", "part", "code", "param"),
    [
        ("user", SAID, "invalid_value", "item.content[1].type"),
        ("assistant", TEXT, "invalid_value", "item.content[1].type"),
        ("system", SAID, "invalid_value", "item.content[1].type"),
        ("system", VOICE, "invalid_value", "item.content[1].type"),
        ("system", IMAGE, "invalid_value", "item.content[1].type"),
        ("assistant", VOICE, "invalid_value", "item.content[1].type"),
        ("user", IMAGE, "invalid_value", "item.content[1].image_url"),
        ("assistant", SPOKEN, "missing_required_parameter", "item.content[1].text"),
        ("user", SPOKEN, "missing_required_parameter", "item.content[1].text"),
        ("user", {"type": "text", "text": "x"}, "invalid_value", "item.content[1].type"),
        ("user", {"text": "x"}, "missing_required_parameter", "item.content[1].type"),
        ("user", {"type": "input_text"}, "missing_required_parameter", "item.content[1].text"),
        ("user", {"type": "input_text", "text": None}, "invalid_type", "item.content[1].text"),
        ("robot", TEXT, "invalid_value", "item.role"),
    ],
)
def test_content_that_a_role_can_not_have_is_named(
    player: Player, role: str, part: dict[str, Any], code: str, param: str
) -> None:
    good = SAID if role == "assistant" else TEXT
    error = error_of(player.send(CREATE, item=message(role, good, part), event_id="e1"))

    assert (error["code"], error["param"], error["event_id"]) == (code, param, "e1")
    assert player.items() == []


def test_the_assistants_audio_is_refused_in_the_words_of_the_real_service(player: Player) -> None:
    error = error_of(player.send(CREATE, item=message("assistant", SPOKEN)))

    assert error["message"] == "Missing required parameter: 'item.content[0].text'."


@pytest.mark.parametrize(
    "item",
    [
        {"type": "item_reference", "id": "x"},
        {"type": "mcp_approval_response", "approval_request_id": "x", "approve": True},
        {"role": "user", "content": []},
        {"type": "message", "role": "user"},
        {"type": "function_call", "name": "x"},
        5,
        None,
        [],
    ],
)
def test_what_is_no_item_is_refused(player: Player, item: object) -> None:
    error = error_of(player.send(CREATE, item=item))

    assert error["param"].startswith("item")
    assert player.items() == []


# --- calls --------------------------------------------------------------------------------


def test_the_output_of_an_unknown_call_is_refused(player: Player) -> None:
    item = {"type": "function_call_output", "call_id": "call_9", "output": "{}"}
    error = error_of(player.send(CREATE, item=item))

    assert (error["code"], error["param"]) == ("invalid_tool_call_id", "item.call_id")
    assert error["message"] == "Tool call ID 'call_9' not found in conversation."


def test_a_call_of_the_client_can_be_answered(player: Player) -> None:
    call = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "call_1"}
    player.send(CREATE, item=call)
    output = {"type": "function_call_output", "call_id": "call_1", "output": '{"a": 1}'}
    events = player.send(CREATE, item=output)

    assert types(events) == ["conversation.item.added", "conversation.item.done"]
    assert events[0]["item"]["output"] == '{"a": 1}'


def test_a_call_without_an_id_gets_one(player: Player) -> None:
    call = {"type": "function_call", "name": "look", "arguments": "{}"}
    item = player.send(CREATE, item=call)[0]["item"]

    assert item["call_id"].startswith("call_")


def test_the_output_may_come_as_soon_as_the_arguments_are_there(player: Player) -> None:
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", "{}")
    output = {"type": "function_call_output", "call_id": "call_1", "output": "{}"}
    events = player.send(CREATE, item=output)
    assert types(events) == ["conversation.item.added", "conversation.item.done"]

    player.ends(response_id)
    assert [item["type"] for item in player.items()] == ["function_call", "function_call_output"]
    player.finish()


def test_outputs_of_parallel_calls_may_come_in_any_order(player: Player) -> None:
    response_id = player.respond()
    for number in (1, 2, 3):
        player.calls(response_id, f"call_{number}", "look", "{}")
    player.ends(response_id)
    for number in (3, 1, 2):
        output = {"type": "function_call_output", "call_id": f"call_{number}", "output": "{}"}
        player.send(CREATE, item=output)

    assert len(player.work.generations[player.respond()].items) == 6
