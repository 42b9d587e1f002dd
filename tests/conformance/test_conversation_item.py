"""Items: created, placed, fetched and deleted."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.sound import silence, tone

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event

ITEM = "conversation.item"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def message(text: str, **fields: Any) -> Event:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content, **fields}


def refusal(client: Client, item: Event, **fields: Any) -> Event:
    """The error of an item that does not get into the conversation."""
    since = client.mark()
    error = client.error(client.send(f"{ITEM}.create", item=item, **fields))
    assert error["type"] == "invalid_request_error"
    client.sync()
    assert f"{ITEM}.added" not in client.types[since:]
    return error


@check("conversation.item/44", CORE)
def test_a_created_item_is_added_and_done(client: Client) -> None:
    first = client.write("One.")
    client.send(f"{ITEM}.create", item=message("Two."))
    added = client.event(f"{ITEM}.added")
    done = client.event(f"{ITEM}.done")
    assert added["item"]["id"] == done["item"]["id"]
    assert 0 < len(done["item"]["id"]) <= 32
    assert done["item"]["object"] == "realtime.item"
    assert done["item"]["status"] == "completed"
    assert done["previous_item_id"] == first["id"]


@check("conversation.item/no-response", CORE)
def test_an_item_starts_no_response(client: Client) -> None:
    since = client.mark()
    client.write("Hello?")
    client.nothing("response.created", since=since)


@check("conversation.item/own-id", CORE)
def test_the_id_of_the_client_is_kept(client: Client) -> None:
    assert client.item(message("One.", id="my_item_1"))["id"] == "my_item_1"


@check("conversation.item/long-id", FULL)
def test_an_id_of_more_than_32_characters_is_refused(client: Client) -> None:
    error = refusal(client, message("One.", id="x" * 39))
    assert error["code"] == "string_above_max_length"
    assert error["param"] == "item.id"


@check("conversation.item/root", CORE)
def test_an_item_may_go_to_the_front(client: Client) -> None:
    client.write("One.")
    first = client.write("Zero.", previous_item_id="root")
    assert client.checker.items[0] == first["id"]


@check("conversation.item/after", CORE)
def test_an_item_may_go_after_any_other(client: Client) -> None:
    one, three = client.write("One."), client.write("Three.")
    two = client.write("Two.", previous_item_id=one["id"])
    assert client.checker.items == [one["id"], two["id"], three["id"]]


@check("conversation.item/46", CORE)
def test_an_unknown_place_is_refused(client: Client) -> None:
    error = refusal(client, message("One.", id="item_lost"), previous_item_id="does_not_exist")
    assert error["param"] == "previous_item_id"
    client.error(client.send(f"{ITEM}.retrieve", item_id="item_lost"))


@check("conversation.item/47", CORE)
def test_a_spoken_item_is_fetched_with_its_words_and_audio(client: Client) -> None:
    client.listen(transcribe=True, turn_detection={"type": "server_vad", "create_response": False})
    client.say()
    said = client.event(f"{ITEM}.input_audio_transcription.completed")
    part = client.retrieve(said["item_id"])["content"][0]
    assert part["type"] == "input_audio"
    assert part["transcript"] == said["transcript"]
    assert len(base64.b64decode(part["audio"])) > 20_000


@check("conversation.item/47-assistant", CORE)
def test_a_spoken_answer_is_fetched_with_its_words_and_audio(client: Client) -> None:
    response = client.ask("Say exactly: Hello there.")
    shown = response["output"][0]
    part = client.retrieve(shown["id"])["content"][0]
    assert part["type"] == "output_audio"
    assert part["transcript"] == shown["content"][0]["transcript"]
    assert base64.b64decode(part["audio"]) == client.audio_of(response["id"])


@check("conversation.item/47-text", CORE)
def test_a_written_item_is_fetched_as_it_is(client: Client) -> None:
    item = client.write("Hello.")
    assert client.retrieve(item["id"]) == item


@check("conversation.item/48", CORE)
@pytest.mark.parametrize("verb", ["retrieve", "delete"])
def test_an_unknown_item_is_an_error_of_that_verb(client: Client, verb: str) -> None:
    error = client.error(client.send(f"{ITEM}.{verb}", item_id="item_nosuch"))
    assert error["code"] == f"item_{verb}_invalid_item_id"
    client.sync()


@check("conversation.item/49", CORE)
def test_a_deleted_item_is_gone(client: Client) -> None:
    item = client.write("The secret word is zebra.")
    client.send(f"{ITEM}.delete", item_id=item["id"])
    assert client.event(f"{ITEM}.deleted")["item_id"] == item["id"]
    error = client.error(client.send(f"{ITEM}.retrieve", item_id=item["id"]))
    assert error["code"] == "item_retrieve_invalid_item_id"
    answer = client.ask("What is the secret word?", output_modalities=["text"])
    assert "zebra" not in answer["output"][0]["content"][0]["text"].lower()


@check("conversation.item/known", CORE)
def test_an_answer_knows_the_items_before_it(client: Client) -> None:
    client.write("The secret word is zebra.")
    answer = client.ask("What is the secret word?", output_modalities=["text"])
    assert "zebra" in answer["output"][0]["content"][0]["text"].lower()


@check("conversation.item/54", FULL)
def test_the_output_of_an_unknown_call_is_refused(client: Client) -> None:
    item = {"type": "function_call_output", "call_id": "call_nosuch", "output": "1"}
    assert refusal(client, item)["code"] == "invalid_tool_call_id"


@check("conversation.item/call", FULL)
def test_a_call_and_its_output_may_be_created(client: Client) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"}
    client.item(call)
    item = client.item({"type": "function_call_output", "call_id": "call_1", "output": "2"})
    assert client.retrieve(item["id"])["output"] == "2"


@check("conversation.item/55", FULL)
def test_words_of_the_assistant_may_be_created(client: Client) -> None:
    item = client.write("Hello.", role="assistant")
    assert item["content"] == [{"type": "output_text", "text": "Hello."}]


@check("conversation.item/55-audio", FULL)
def test_audio_of_the_assistant_may_not_be_created(client: Client) -> None:
    audio = base64.b64encode(tone(200)).decode()
    content = [{"type": "output_audio", "audio": audio}]
    refusal(client, {"type": "message", "role": "assistant", "content": content})


CONTENT: dict[str, tuple[str, Event]] = {
    "system": ("system", {"type": "input_text", "text": "Be kind."}),
    "image": (
        "user",
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
    ),
    "audio": ("user", {"type": "input_audio", "audio": base64.b64encode(tone(300)).decode()}),
}


def create_of(client: Client, kind: str) -> Event:
    """Create an item with that content; the event that answers it."""
    role, part = CONTENT[kind]
    item = {"type": "message", "role": role, "content": [part]}
    event_id = client.send(f"{ITEM}.create", item=item)
    return client.event_that(
        lambda e: e["type"] == f"{ITEM}.done" or e.get("error", {}).get("event_id") == event_id,
        "an answer",
    )


@check("conversation.item/56", FULL)
@pytest.mark.parametrize("kind", list(CONTENT))
def test_other_content_is_added_or_refused_cleanly(client: Client, kind: str) -> None:
    answer = create_of(client, kind)
    if answer["type"] == "error":
        assert answer["error"]["type"] == "invalid_request_error"
    assert client.ask("Say exactly: Fine.")["status"] == "completed"


@check("conversation.item/content", FULL)
@pytest.mark.parametrize("kind", list(CONTENT))
def test_other_content_is_added(client: Client, kind: str) -> None:
    answer = create_of(client, kind)
    assert answer["type"] == f"{ITEM}.done", answer
    assert answer["item"]["content"][0]["type"] == CONTENT[kind][1]["type"]


@check("conversation.item/56-role", FULL)
def test_content_of_another_role_is_refused(client: Client) -> None:
    content = [{"type": "output_text", "text": "Hello."}]
    refusal(client, {"type": "message", "role": "user", "content": content})


@check("conversation.item/reference", FULL)
def test_a_reference_is_no_item(client: Client) -> None:
    item = client.write("One.")
    refusal(client, {"type": "item_reference", "id": item["id"]})


@check("conversation.item/during", CORE)
def test_items_may_be_created_while_an_answer_is_spoken(client: Client) -> None:
    client.write("Count from one to fifty.")
    client.create(output_modalities=["text"], max_output_tokens=40)
    client.created()
    items = [client.write(text) for text in ("One.", "Two.", "Three.")]
    client.done()
    assert [i for i in client.checker.items if i in {item["id"] for item in items}] == [
        item["id"] for item in items
    ]


@check("conversation.item/no-audio", CORE)
def test_events_but_retrieved_carry_no_audio_of_items(client: Client) -> None:
    client.listen(turn_detection=None)
    client.append(tone(300) + silence(200))
    client.send("input_audio_buffer.commit")
    done = client.event(f"{ITEM}.done")
    assert "audio" not in done["item"]["content"][0]
    assert done["item"]["content"][0]["transcript"] is None
