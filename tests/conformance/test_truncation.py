"""Items that are cut to what was heard."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from .realtime_conformance.checks import CORE, FULL, check

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event

TRUNCATE = "conversation.item.truncate"
WORDS = "Alpha bravo charlie delta echo foxtrot golf hotel india juliett."


def spoken(client: Client) -> tuple[Event, int]:
    """A spoken answer: its item, and the milliseconds of its audio."""
    response = client.ask(f"Say exactly: {WORDS}")
    return response["output"][0], len(client.audio_of(response["id"])) // 48


def cut(client: Client, item: Event, end_ms: int) -> None:
    client.send(TRUNCATE, item_id=item["id"], content_index=0, audio_end_ms=end_ms)
    truncated = client.event("conversation.item.truncated")
    assert (truncated["item_id"], truncated["content_index"]) == (item["id"], 0)
    assert truncated["audio_end_ms"] == end_ms


@check("conversation.item/50", CORE)
def test_a_cut_answer_keeps_what_was_heard(client: Client) -> None:
    item, length_ms = spoken(client)
    cut(client, item, length_ms // 2)
    part = client.retrieve(item["id"])["content"][0]
    assert len(base64.b64decode(part["audio"])) == length_ms // 2 * 48
    assert "juliett" not in (part.get("transcript") or "").lower()


@check("conversation.item/51", CORE)
def test_the_model_does_not_know_what_was_not_heard(client: Client) -> None:
    item, length_ms = spoken(client)
    cut(client, item, length_ms // 2)
    answer = client.ask("Repeat your last answer verbatim.", output_modalities=["text"])
    assert "juliett" not in answer["output"][0]["content"][0]["text"].lower()


@check("conversation.item/51-whole", CORE)
def test_the_model_knows_an_answer_that_was_not_cut(client: Client) -> None:
    spoken(client)
    answer = client.ask("Repeat your last answer verbatim.", output_modalities=["text"])
    assert "juliett" in answer["output"][0]["content"][0]["text"].lower()


@check("conversation.item/50-beyond", FULL)
def test_a_cut_beyond_the_end_is_refused(client: Client) -> None:
    item, length_ms = spoken(client)
    end_ms = length_ms + 1000
    error = client.error(
        client.send(TRUNCATE, item_id=item["id"], content_index=0, audio_end_ms=end_ms)
    )
    assert error["type"] == "invalid_request_error"
    part = client.retrieve(item["id"])["content"][0]
    assert len(base64.b64decode(part["audio"])) // 48 == length_ms


@check("conversation.item/50-index", FULL)
def test_a_cut_of_another_part_is_refused(client: Client) -> None:
    item, _ = spoken(client)
    event_id = client.send(TRUNCATE, item_id=item["id"], content_index=3, audio_end_ms=10)
    assert client.error(event_id)["type"] == "invalid_request_error"


@check("conversation.item/50-unknown", FULL)
def test_a_cut_of_an_unknown_item_is_refused(client: Client) -> None:
    event_id = client.send(TRUNCATE, item_id="item_nosuch", content_index=0, audio_end_ms=10)
    assert client.error(event_id)["code"] == "item_truncate_invalid_item_id"


@check("conversation.item/50-written", FULL)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_only_spoken_answers_are_cut(client: Client, role: str) -> None:
    item = client.write("Hello.", role=role)
    event_id = client.send(TRUNCATE, item_id=item["id"], content_index=0, audio_end_ms=10)
    assert client.error(event_id)["code"] == "unsupported_content_type"


@check("conversation.item/50-interrupted", CORE)
def test_an_interrupted_answer_is_cut_as_stock_clients_do(client: Client) -> None:
    client.write("Count from one to fifty.")
    client.create()
    client.event("response.output_audio.delta")
    client.send("response.cancel")
    response = client.done()
    assert response["status"] == "cancelled"
    cut(client, response["output"][0], 100)
    part = client.retrieve(response["output"][0]["id"])["content"][0]
    assert len(base64.b64decode(part["audio"])) == 4800


@check("conversation.item/50-running", FULL)
def test_an_answer_may_be_cut_while_it_is_spoken(client: Client) -> None:
    client.write("Count from one to fifty.")
    client.create(max_output_tokens=40)
    item_id = client.event("response.output_audio.delta")["item_id"]
    client.send(TRUNCATE, item_id=item_id, content_index=0, audio_end_ms=50)
    assert client.event("conversation.item.truncated")["item_id"] == item_id
    client.done()
