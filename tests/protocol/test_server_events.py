"""What the server sends: named as on the wire, with an id each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.codec import encode
from s2s_actors.protocol.pacing import TurnPace
from s2s_actors.protocol.session import Include
from tests.support import strict_events

if TYPE_CHECKING:
    import msgspec


def test_every_event_is_one_that_stock_clients_know_or_have_to_ask_for() -> None:
    names = {event.__struct_config__.tag for event in get_args(ev.ServerEvent)}

    assert names <= set(strict_events._adapters()) | strict_events.OWN_EVENTS
    (includable,) = get_args(Include)
    assert set(get_args(includable)) >= strict_events.INCLUDED_EVENTS
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


def test_a_waterfall_is_told_with_its_steps_and_their_sum() -> None:
    pace = TurnPace(0.0)
    for what, at_ms in {"heard": 200.0, "settled": 512.0, "ready": 520.0, "sound": 548.0}.items():
        pace.reached(what, at_ms)  # type: ignore[arg-type]
    pace.took(stt_ms=180.0)
    told = ev.TurnWaterfall.of(pace.report(), item_id="item_1", response_id="resp_1")
    event = json.loads(encode(told))
    strict_events.validate(event)

    assert event.pop("event_id")
    assert event == {
        "type": "turn.waterfall",
        "item_id": "item_1",
        "response_id": "resp_1",
        "answered": True,
        "steps": [
            {"name": "settling", "ms": 512, "ahead": False},
            {"name": "recognizing", "ms": 0, "ahead": True},
            {"name": "preparing", "ms": 8, "ahead": False},
            {"name": "thinking", "ms": 28, "ahead": False},
            {"name": "writing", "ms": 0, "ahead": False},
            {"name": "voicing", "ms": 0, "ahead": False},
        ],
        "total_ms": 548,
        "reason": "the silence that ends a turn (512 of 548 ms); the transcript was ready before",
        "work": {"stt_ms": 180},
    }


def test_the_waterfall_of_a_turn_without_an_answer_names_no_response() -> None:
    pace = TurnPace(0.0)
    pace.give_up("noise", 700.0)
    event = json.loads(encode(ev.TurnWaterfall.of(pace.report(), item_id="item_1")))
    strict_events.validate(event)

    assert "response_id" not in event
    assert not event["answered"]
    assert event["reason"] == "no answer: only noise was heard"


def test_a_waterfall_that_does_not_add_up_is_noticed() -> None:
    pace = TurnPace(0.0)
    pace.give_up("noise", 700.0)
    event = json.loads(encode(ev.TurnWaterfall.of(pace.report(), item_id="item_1")))

    with pytest.raises(AssertionError, match="add up"):
        strict_events.validate(event | {"total_ms": 699})
    with pytest.raises(AssertionError, match="unknown"):
        strict_events.validate(event | {"text": "Hello."})


@pytest.mark.parametrize("event_type", get_args(ev.ServerEvent))
def test_events_do_not_change_after_they_were_made(event_type: type[msgspec.Struct]) -> None:
    assert event_type.__struct_config__.frozen
