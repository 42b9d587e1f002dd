"""Figures are for who has a key; how full the server is anyone may know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus

from s2s_actors.actors.lease import Lease
from s2s_actors.protocol.pacing import TurnPace
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.origin import Origins
from tests.server.boards import FixedBoard, unit
from tests.server.harness import FakePool, client, http, listening, run

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET = "sk-s2s-open-sesame"  # noqa: S105 - opens nothing
KEY = ("Authorization", f"Bearer {SECRET}")
LOCKED = Door(keys=KeyRing([ApiKey("kitchen", hash_of(SECRET))]))
PAGE = ("Origin", "https://evil.example")


def ask(
    path: str, *headers: tuple[str, str], door: Door, host: str = "127.0.0.1"
) -> tuple[int, str]:
    """Ask a listening server for a path, with these headers."""
    board = FixedBoard(unit(0), unit(1, "active", "sess_canary"))
    pace = TurnPace(0.0)
    pace.give_up("noise", 700.0)
    board.publish_turn(Lease(1, "sess_canary", epoch=0), pace.report(), 1_700_000_000.0)

    async def scenario() -> tuple[int, str]:
        show = None if host == "127.0.0.1" else False
        async with listening(FakePool(), board=board, door=door, show_session_ids=show) as port:
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
            head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n"
            status, _, body = await http(port, head.encode())
            return status, body.decode()

    return run(scenario())


def unit_of(answer: tuple[int, str]) -> Any:
    status, body = answer
    assert status == 200
    return json.loads(body)["units"][1]


def test_without_a_key_the_pool_tells_nothing_of_a_client() -> None:
    status, body = ask("/v1/pool", door=LOCKED)
    assert status == 200
    assert "canary" not in body
    shown = unit_of((status, body))
    assert {name for name, value in shown.items() if value is None} == {
        "session_id",
        "since",
        "claimed_at",
        "released_at",
        "epoch",
        "last_turn",
    }
    assert (shown["index"], shown["state"], shown["restarts"]) == (1, "active", 0)
    assert json.loads(body)["in_use"] == 1


def test_a_key_shows_the_whole_pool_wherever_the_server_listens() -> None:
    shown = unit_of(ask("/v1/pool", KEY, door=LOCKED, host="elsewhere"))
    assert shown["session_id"] == "sess_canary"
    assert shown["last_turn"]["total_ms"] == 700


def test_where_nobody_needs_a_key_the_pool_is_shown_as_ever() -> None:
    assert unit_of(ask("/v1/pool", door=Door()))["session_id"] == "sess_canary"
    shown = unit_of(ask("/v1/pool", door=Door(), host="elsewhere"))
    assert (shown["session_id"], shown["since"]) == (None, 1.0)


@pytest.mark.parametrize("path", ["/metrics", "/v1/usage"])
def test_figures_need_a_key_where_there_are_keys(path: str) -> None:
    status, body = ask(path, door=LOCKED)
    assert status == 401
    assert json.loads(body)["error"]["code"] == "invalid_api_key"
    assert ask(path, ("Authorization", "Bearer wrong"), door=LOCKED)[0] == 401
    assert ask(path, KEY, door=LOCKED)[0] == 200
    assert ask(path, door=Door())[0] == 200


@pytest.mark.parametrize("path", ["/health", "/ready", "/v1/models"])
def test_whether_the_server_is_there_anyone_may_know(path: str) -> None:
    assert ask(path, door=LOCKED)[0] == 200
    assert ask(path, PAGE, door=LOCKED)[0] == 200


def test_a_strange_page_sees_no_figures_with_or_without_a_key() -> None:
    for headers in ((PAGE,), (PAGE, KEY)):
        for door in (LOCKED, Door()):
            assert ask("/metrics", *headers, door=door)[0] == 403
            assert unit_of(ask("/v1/pool", *headers, door=door))["session_id"] is None
    allowed = Door(Origins(frozenset({"https://evil.example"})))
    assert ask("/metrics", PAGE, door=allowed)[0] == 200
    assert unit_of(ask("/v1/pool", PAGE, door=allowed))["session_id"] == "sess_canary"


def test_who_is_sent_away_at_the_door_is_counted() -> None:
    board = FixedBoard()

    async def scenario() -> Mapping[str, int]:
        async with listening(FakePool(), board=board, door=LOCKED) as port:
            for page in (None, None, "https://evil.example"):
                with pytest.raises(InvalidStatus):
                    async with client(port, origin=page):
                        pass
        return board.tally.read().refused

    assert run(scenario()) == {"missing_api_key": 2, "origin_not_allowed": 1}
