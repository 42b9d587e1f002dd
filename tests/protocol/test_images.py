"""Images in messages that a client creates: checked, kept, and shown as they came."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from s2s_actors.protocol.images import MAX_IMAGES_BYTES
from tests.protocol.playing import Player, error_of, types

CREATE = "conversation.item.create"
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff\xe0"


def data_url(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def image(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "input_image", "image_url": url, **fields}


def message(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": list(parts), **fields}


@pytest.fixture
def player() -> Player:
    return Player()


@pytest.mark.parametrize("detail", [{}, {"detail": "auto"}, {"detail": "low"}, {"detail": "high"}])
@pytest.mark.parametrize("url", [data_url(PNG + b"x"), data_url(JPEG + b"x", "jpeg")])
def test_an_image_is_shown_as_it_came(player: Player, url: str, detail: dict[str, str]) -> None:
    content = [{"type": "input_text", "text": "What is it?"}, image(url, **detail)]
    events = player.send(CREATE, item=message(*content, id="mine"))
    events += player.send("conversation.item.retrieve", item_id="mine")

    assert types(events) == [
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.retrieved",
    ]
    assert [event["item"]["content"] for event in events] == [content] * 3


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://example.org/cat.png", "expected a data URL"),
        (data_url(b"GIF89a", "gif"), "expected a data URL"),
        ("data:image/png," + "AAAA", "expected a data URL"),
        ("", "expected a data URL"),
        ("data:image/png;base64,!!!!", "not valid base64"),
        ("data:image/png;base64,é", "not valid base64"),
        ("data:image/png;base64,", "it is no png image"),
        (data_url(JPEG), "it is no png image"),
        (data_url(PNG, "jpeg"), "it is no jpeg image"),
    ],
)
def test_what_is_no_image_is_named(player: Player, url: str, says: str) -> None:
    content = [image(data_url(PNG)), image(url)]
    error = error_of(player.send(CREATE, item=message(*content), event_id="e1"))
    assert (error["code"], error["param"]) == ("invalid_value", "item.content[1].image_url")
    assert says in error["message"]
    assert error["event_id"] == "e1"
    assert player.items() == []

    error = error_of(player.send("response.create", response={"input": [message(*content)]}))
    assert error["param"] == "response.input[0].content[1].image_url"


def test_an_unknown_detail_is_refused(player: Player) -> None:
    error = error_of(player.send(CREATE, item=message(image(data_url(PNG), detail="all"))))

    assert (error["code"], error["param"]) == ("invalid_value", "item.content[0].detail")


def test_the_images_of_a_message_share_a_limit(player: Player) -> None:
    half = image(data_url(PNG + bytes(MAX_IMAGES_BYTES // 2 - len(PNG))))
    assert len(player.send(CREATE, item=message(half, half))) == 2

    error = error_of(player.send(CREATE, item=message(half, half, image(data_url(PNG)))))
    assert (error["code"], error["param"]) == (
        "string_above_max_length",
        "item.content[2].image_url",
    )
    assert str(MAX_IMAGES_BYTES) in error["message"]


def test_an_image_that_is_too_large_is_not_even_decoded(player: Player) -> None:
    url = "data:image/png;base64," + "!" * (MAX_IMAGES_BYTES * 2)
    error = error_of(player.send(CREATE, item=message(image(url))))

    assert error["code"] == "string_above_max_length"


def test_an_image_reaches_the_model(player: Player) -> None:
    part = image(data_url(PNG))
    player.send(CREATE, item=message(part))
    [item] = player.work.generations[player.respond()].items

    assert item.content[0].image_url == part["image_url"]  # type: ignore[union-attr]
