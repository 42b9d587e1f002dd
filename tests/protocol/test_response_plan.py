"""What one response will be: the session, with the overrides of its request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.protocol.session import FunctionChoice
from tests.protocol.playing import Player, error_of, one, types, user_text

if TYPE_CHECKING:
    from s2s_actors.protocol.outputs import StartGeneration

LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}}
HEAR = {"type": "function", "name": "hear"}


@pytest.fixture
def player() -> Player:
    player = Player()
    player.update(tools=[LOOK], tool_choice="required", max_output_tokens=100)
    return player


def generation(player: Player, **response: Any) -> StartGeneration:
    return player.work.generations[player.respond(**response)]


def created(player: Player) -> dict[str, Any]:
    response: dict[str, Any] = one(player.events, "response.created")["response"]
    return response


def test_without_overrides_the_session_holds(player: Player) -> None:
    work = generation(player)

    assert work.instructions == "Be kind."
    assert [tool.name for tool in work.tools] == ["look"]
    assert (work.tool_choice, work.max_output_tokens) == ("required", 100)
    response = created(player)
    assert response["output_modalities"] == ["audio"]
    assert response["max_output_tokens"] == 100
    assert response["audio"] == {
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "alloy"}
    }
    assert response["conversation_id"].startswith("conv_")
    assert (response["metadata"], response["usage"], response["output"]) == (None, None, [])


def test_overrides_last_one_response(player: Player) -> None:
    work = generation(
        player,
        instructions="Be brief.",
        tools=[HEAR],
        tool_choice={"type": "function", "name": "hear"},
        max_output_tokens="inf",
        output_modalities=["text"],
        audio={"output": {"voice": {"id": "verse"}, "speed": 1.5}},
        metadata={"a": "b"},
    )
    assert work.instructions == "Be brief."
    assert [tool.name for tool in work.tools] == ["hear"]
    assert (work.tool_choice, work.max_output_tokens) == (FunctionChoice(name="hear"), None)
    response = created(player)
    assert response["output_modalities"] == ["text"]
    assert response["max_output_tokens"] == "inf"
    assert response["audio"]["output"]["voice"] == "verse"
    assert response["metadata"] == {"a": "b"}

    player.send("response.cancel")
    assert generation(player).instructions == "Be kind."


def test_no_tools_and_no_instructions_are_overrides_too(player: Player) -> None:
    work = generation(player, tools=[], instructions="")

    assert (work.tools, work.instructions) == ((), "")


def test_instructions_that_are_null_are_no_override(player: Player) -> None:
    # LiveKit sends them so whenever it has none for this response.
    assert generation(player, instructions=None).instructions == "Be kind."


def test_voice_and_speed_reach_the_voice() -> None:
    player = Player()
    player.update(audio={"output": {"voice": "ash", "speed": 0.5}})
    response_id = player.respond(audio={"output": {"speed": 1.5}})
    player.writes(response_id, "Hi there.")
    player.ends(response_id)

    (work,) = player.work.segments
    assert (work.voice, work.speed) == ("ash", 1.5)


def test_settings_changed_meanwhile_hold_for_the_next_response(player: Player) -> None:
    player.update(output_modalities=["text"])
    response_id = player.respond()
    player.update(output_modalities=["audio"], instructions="Other.")
    player.writes(response_id, "Written.")

    assert "response.output_text.delta" in types(player.events)


# --- context ------------------------------------------------------------------------------


def test_the_context_is_the_conversation(player: Player) -> None:
    first, second = player.create_text("One."), player.create_text("Two.")

    assert [item.id for item in generation(player).items] == [first, second]


def test_input_replaces_the_context(player: Player) -> None:
    first, _ = player.create_text("One."), player.create_text("Two.")
    work = generation(player, input=[{"type": "item_reference", "id": first}, user_text("Three.")])
    assert "One." in str(work.items[0])
    assert "Three." in str(work.items[1])
    assert len(work.items) == 2


def test_an_empty_input_is_no_context(player: Player) -> None:
    player.create_text("One.")

    assert generation(player, input=[]).items == ()


def test_a_reference_to_nothing_is_refused(player: Player) -> None:
    events = player.send(
        "response.create",
        response={"input": [user_text("x"), {"type": "item_reference", "id": "nowhere"}]},
        event_id="e1",
    )
    error = error_of(events)

    assert (error["code"], error["param"]) == ("invalid_value", "response.input[1].id")
    assert error["event_id"] == "e1"
    assert player.open_response is None


@pytest.mark.parametrize(
    ("part", "param"),
    [
        ({"type": "input_image", "image_url": "data:x"}, "response.input[0].content[0].image_url"),
        ({"type": "input_audio", "audio": "AAAA"}, "response.input[0].content[0].audio"),
        ({"type": "output_text", "text": "x"}, "response.input[0].content[0].type"),
    ],
)
def test_content_that_can_not_be_read_is_refused_in_the_input_too(
    player: Player, part: dict[str, Any], param: str
) -> None:
    item = {"type": "message", "role": "user", "content": [part]}
    error = error_of(player.send("response.create", response={"input": [item]}))

    assert error["param"] == param
    assert player.open_response is None


def test_a_reference_to_speech_waits_for_its_words() -> None:
    player = Player()
    player.update_input(turn_detection={"type": "server_vad", "create_response": False})
    item_id = player.says()
    response_id = player.respond(input=[{"type": "item_reference", "id": item_id}])
    assert response_id not in player.work.generations
    player.hears(item_id, "Hello.")

    assert "Hello." in str(player.work.generations[response_id].items)


def test_input_without_references_waits_for_nothing() -> None:
    player = Player()
    player.says()
    response_id = player.respond(conversation="none", input=[user_text("Hi.")])

    assert response_id in player.work.generations


def test_an_item_deleted_while_a_response_waits_is_not_in_its_context() -> None:
    player = Player()
    player.update_input(turn_detection={"type": "server_vad", "create_response": False})
    first = player.create_text("One.")
    item_id = player.says()
    beside = player.respond(
        conversation="none",
        input=[{"type": "item_reference", "id": item_id}, {"type": "item_reference", "id": first}],
    )
    response_id = player.respond()
    player.send("conversation.item.delete", item_id=item_id)
    player.hears(item_id, "Hello.")

    assert [item.id for item in player.work.generations[response_id].items] == [first]
    assert [item.id for item in player.work.generations[beside].items] == [first]
    player.answers(response_id, "Hi.")
    player.answers(beside, "Hi.")
    player.finish()


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "code", "param"),
    [
        ({"conversation": "other"}, "invalid_value", "response.conversation"),
        ({"conversation": None}, "invalid_type", "response.conversation"),
        ({"output_modalities": ["text", "audio"]}, "invalid_value", "response.output_modalities"),
        ({"max_output_tokens": 5000}, "invalid_value", "response.max_output_tokens"),
        ({"audio": {"output": {"speed": 2}}}, "invalid_value", "response.audio.output.speed"),
        ({"metadata": {"a": 5}}, "invalid_type", "response.metadata[...]"),
        (
            {"metadata": {str(n): "" for n in range(17)}},
            "invalid_value",
            "response.metadata",
        ),
        ({"metadata": {"k" * 65: "v"}}, "string_above_max_length", "response.metadata"),
        ({"metadata": {"k": "v" * 513}}, "string_above_max_length", "response.metadata"),
        ({"input": [{"type": "message"}]}, "missing_required_parameter", "response.input[0].role"),
        ({"input": {}}, "invalid_type", "response.input"),
        ({"voice": "ash"}, "unknown_parameter", "response.voice"),
        ({"modalities": ["text"]}, "unknown_parameter", "response.modalities"),
        ([], "invalid_type", "response"),
        ("x", "invalid_type", "response"),
    ],
)
def test_a_bad_override_is_named_and_no_response_begins(
    player: Player, response: object, code: str, param: str
) -> None:
    error = error_of(player.send("response.create", response=response, event_id="e1"))

    assert (error["code"], error["param"], error["event_id"]) == (code, param, "e1")
    assert player.open_response is None
    player.answers(player.respond(), "Fine.")
    player.finish()


def test_metadata_up_to_the_limits_comes_back(player: Player) -> None:
    metadata = {f"{n:064}": "v" * 512 for n in range(16)}
    response_id = player.respond(metadata=metadata)
    player.answers(response_id, "Fine.")

    assert player.events[-2]["response"]["metadata"] == metadata


def test_null_is_no_override() -> None:
    player = Player()
    events = player.send("response.create", response=None)

    assert types(events) == ["response.created"]
