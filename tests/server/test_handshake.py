"""The gate lets exactly the right requests become sessions."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.handshake import Gate, Target, select_subprotocol, target_of
from tests.server.boards import FixedBoard, no_load

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

CONNECTION = cast("ServerConnection", SimpleNamespace())
UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade"}
GATE = Gate(
    Endpoints(FixedBoard(), (), health=no_load(), is_draining=lambda: False, show_session_ids=True)
)


def ask(path: str, headers: dict[str, str] | None = None) -> Response | None:
    return GATE.process_request(CONNECTION, Request(path, Headers(headers or {})))


def error_of(response: Response | None) -> Any:
    assert response is not None
    return json.loads(response.body)["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/realtime",
        "/v1/realtime?model=anything%20at%20all",
        "/v1/realtime?intent=transcription",
        "/v1/realtime?model=&x=y",
        "/v1/realtime?conduct=plain",
        "/v1/realtime?queue_events=1",
        "/v1/realtime?queue_events=0",
    ],
)
def test_an_upgrade_of_the_realtime_path_becomes_a_session(path: str) -> None:
    assert ask(path, UPGRADE) is None


def test_the_realtime_path_without_an_upgrade_is_explained() -> None:
    response = ask("/v1/realtime?model=m")
    assert response is not None
    assert response.status_code == 426
    assert response.headers["Upgrade"] == "websocket"
    assert "websocket" in error_of(response)["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"OpenAI-Beta": "realtime=v1"},
        {"OpenAI-Beta": "assistants=v2, realtime=v1"},
        {"Sec-WebSocket-Protocol": "realtime, openai-beta.realtime-v1"},
    ],
)
def test_the_beta_shape_is_refused(headers: dict[str, str]) -> None:
    response = ask("/v1/realtime?model=m", UPGRADE | headers)
    assert response is not None
    assert response.status_code == 400
    assert error_of(response)["code"] == "beta_api_shape_disabled"
    assert set(error_of(response)) == {"message", "type", "param", "code"}


def test_another_beta_header_is_no_reason_to_refuse() -> None:
    assert ask("/v1/realtime?model=m", UPGRADE | {"OpenAI-Beta": "assistants=v2"}) is None


def test_attaching_to_a_call_is_refused_because_there_is_none() -> None:
    response = ask("/v1/realtime?call_id=rtc_1", UPGRADE)
    assert response is not None
    assert response.status_code == 404
    assert error_of(response)["param"] == "call_id"


@pytest.mark.parametrize(
    ("name", "value"),
    [("intent", "translation"), ("conduct", "polite"), ("queue_events", "yes")],
)
def test_a_value_that_is_not_known_is_refused(name: str, value: str) -> None:
    response = ask(f"/v1/realtime?{name}={value}", UPGRADE)
    assert response is not None
    assert response.status_code == 400
    assert error_of(response)["param"] == name


@pytest.mark.parametrize("path", ["/v1/pool", "/", "/v1/realtime/", "/v1/realtimes"])
def test_an_upgrade_anywhere_else_is_not_found(path: str) -> None:
    response = ask(path, UPGRADE)
    assert response is not None
    assert response.status_code == 404
    assert "/v1/realtime" in json.loads(response.body)["paths"]


def test_a_malformed_url_is_answered() -> None:
    response = ask("//[", UPGRADE)
    assert response is not None
    assert response.status_code == 400


def test_a_plain_request_reaches_the_endpoints() -> None:
    response = ask("/health?verbose=1")
    assert response is not None
    assert response.status_code == 200


def test_the_target_is_read_from_the_query() -> None:
    path = "/v1/realtime?model=a%2Fb&intent=transcription&model=c&queue_events=1"
    request = Request(path, Headers())
    assert target_of(request) == Target("a/b", "transcription", None, None, "1")


@pytest.mark.parametrize(
    ("offered", "selected"),
    [
        ([], None),
        (["realtime"], "realtime"),
        (["openai-insecure-api-key.sk-1", "realtime"], "realtime"),
        (["openai-insecure-api-key.sk-1"], None),
        (["chat"], None),
    ],
)
def test_only_the_realtime_subprotocol_is_ever_selected(
    offered: list[str], selected: str | None
) -> None:
    assert select_subprotocol(CONNECTION, [Subprotocol(name) for name in offered]) == selected
