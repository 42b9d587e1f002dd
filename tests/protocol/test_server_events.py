"""What the server sends: named as on the wire, with an id each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.codec import encode
from tests.support import strict_events

if TYPE_CHECKING:
    import msgspec


def test_every_event_is_one_that_stock_clients_know() -> None:
    names = {event.__struct_config__.tag for event in get_args(ev.ServerEvent)}

    assert names <= set(strict_events._adapters())
    assert not names & strict_events.NOT_OVER_WEBSOCKET
    assert len(names) == len(get_args(ev.ServerEvent))


def test_every_event_has_an_id_of_its_own() -> None:
    assert ev.AudioCleared().event_id != ev.AudioCleared().event_id


def test_an_error_of_the_client_says_what_and_which_event() -> None:
    error = ClientError("some_code", "Some text.", param="a.b", event_id="e1")

    assert json.loads(encode(ev.client_error(error)))["error"] == {
        "type": "invalid_request_error",
        "code": "some_code",
        "message": "Some text.",
        "param": "a.b",
        "event_id": "e1",
    }


def test_an_error_of_the_server_blames_no_event() -> None:
    error = json.loads(encode(ev.server_error("some_code", "Some text.")))["error"]

    assert (error["type"], error["param"], error["event_id"]) == ("server_error", None, None)


def test_rate_limits_are_told_without_any() -> None:
    event = json.loads(encode(ev.RateLimitsUpdated()))
    strict_events.validate(event)

    assert event["rate_limits"] == []


@pytest.mark.parametrize("event_type", get_args(ev.ServerEvent))
def test_events_do_not_change_after_they_were_made(event_type: type[msgspec.Struct]) -> None:
    assert event_type.__struct_config__.frozen
