"""Only who shows a key gets a session, and nothing that was sent is told again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers

from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.origin import Origins

if TYPE_CHECKING:
    from websockets.http11 import Response

SECRET = "sk-s2s-open-sesame"  # noqa: S105 - opens nothing
RING = KeyRing([ApiKey("kitchen", hash_of(SECRET)), ApiKey("hall", hash_of("sk-s2s-other"))])
LOCKED, OPEN = Door(keys=RING), Door()


def headers_of(*headers: tuple[str, str]) -> Headers:
    return Headers([("Host", "127.0.0.1:8765"), *headers])


def refusal(door: Door, *headers: tuple[str, str]) -> Response | None:
    sent = headers_of(*headers)
    refused = door.refuse(sent, door.key_of(sent))
    return None if refused is None else refused.response


def error_of(response: Response | None) -> Any:
    assert response is not None
    return json.loads(response.body)["error"]


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", f"Bearer {SECRET}"),
        ("Authorization", f"bearer   {SECRET} "),
        ("Sec-WebSocket-Protocol", f"realtime, openai-insecure-api-key.{SECRET}"),
    ],
)
def test_a_key_opens_the_door_in_a_header_or_in_a_subprotocol(header: tuple[str, str]) -> None:
    assert refusal(LOCKED, header) is None
    key = LOCKED.key_of(headers_of(header))
    assert key is not None
    assert key.name == "kitchen"


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Authorization", SECRET),),
        (("Authorization", f"Basic {SECRET}"),),
        (("Authorization", "Bearer "),),
        (("Authorization", f"Bearer {SECRET}x"),),
        (("Authorization", f"Bearer {hash_of(SECRET)}"),),
        (("Sec-WebSocket-Protocol", f"realtime, {SECRET}"),),
    ],
)
def test_without_a_valid_key_the_answer_is_401_and_tells_nothing(
    headers: tuple[tuple[str, str], ...],
) -> None:
    response = refusal(LOCKED, *headers)
    assert response is not None
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert error_of(response)["code"] == "invalid_api_key"
    assert b"sesame" not in response.body


def test_where_nobody_needs_a_key_any_or_none_will_do() -> None:
    assert refusal(OPEN) is None
    assert refusal(OPEN, ("Authorization", "Bearer whatever")) is None
    assert OPEN.key_of(headers_of(("Authorization", f"Bearer {SECRET}"))) is None


def test_a_strange_page_is_refused_with_or_without_a_key() -> None:
    page = ("Origin", "https://evil.example")
    for door in (OPEN, LOCKED):
        response = refusal(door, page, ("Authorization", f"Bearer {SECRET}"))
        assert response is not None
        assert response.status_code == 403
        assert error_of(response)["code"] == "origin_not_allowed"
        assert b"evil" not in response.body
    allowed = Door(Origins(frozenset({"https://evil.example"})))
    assert refusal(allowed, page) is None


# What a header may hold (RFC 9110, section 5.5): the library refuses all else before that.
HEADER_TEXT = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_categories=["Cc"]), max_size=200
)


@given(HEADER_TEXT)
def test_whatever_is_sent_as_a_key_is_answered(text: str) -> None:
    for header in (
        ("Authorization", text),
        ("Authorization", f"Bearer {text}"),
        ("Sec-WebSocket-Protocol", f"openai-insecure-api-key.{text}"),
    ):
        response = refusal(LOCKED, header)
        assert response is not None
        assert response.status_code == 401
