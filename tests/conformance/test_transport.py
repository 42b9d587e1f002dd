"""Upgrade, keys, subprotocols, frames, and a connection that lasts."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as connect_websocket
from websockets.typing import Subprotocol

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.client import Client
from .realtime_conformance.strict_events import validate
from .realtime_conformance.target import not_applicable, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from .realtime_conformance.target import Target

BROWSER = ("realtime", "openai-insecure-api-key.{key}", "openai-agents-sdk.0.20.0")


class GoneError(Exception):
    """Ends a block as a crash of the client would."""


QUIET_S = 60.0
OWN_QUIET_S = 20.0


def offered(*names: str, key: str) -> list[Subprotocol]:
    return [Subprotocol(name.format(key=key)) for name in names]


@check("transport/1", CORE)
def test_a_bearer_without_subprotocol_is_answered_without_one(client: Client) -> None:
    assert client.ws.response is not None
    assert client.ws.response.status_code == 101
    assert "Sec-WebSocket-Protocol" not in client.ws.response.headers


@check("transport/2", CORE)
def test_a_browser_gets_the_subprotocol_realtime_and_its_key_is_not_echoed(target: Target) -> None:
    subprotocols = offered(*BROWSER, key=target.key)
    with Client(target, subprotocols=subprotocols, additional_headers={}) as client:
        assert client.ws.response is not None
        assert client.ws.response.headers["Sec-WebSocket-Protocol"] == "realtime"


@check("transport/3", CORE)
def test_a_wrong_key_opens_no_session(target: Target) -> None:
    if target.api_key is None:
        not_applicable("no --api-key")
    headers = {"Authorization": "Bearer wrong"}
    with refused(401), Client(target, greeted=False, additional_headers=headers) as client:
        assert client.closed(target.patience_s) == 3000
        assert "session.created" not in client.types


@check("transport/4", CORE)
def test_the_first_frame_is_session_created_within_a_second(target: Target) -> None:
    began_s = time.monotonic()
    with Client(target) as client:
        assert client.types[0] == "session.created"
        assert client.arrived_s[0] - began_s < 1.0


@check("transport/5", FULL)
def test_the_beta_header_is_refused_or_served_in_the_new_shape(target: Target) -> None:
    headers = {"Authorization": f"Bearer {target.key}", "OpenAI-Beta": "realtime=v1"}
    with refused(), Client(target, greeted=False, additional_headers=headers) as client:
        first = client.event_that(lambda _: True, "anything")
        assert first["type"] == "error" or first["session"]["type"] == "realtime"


@check("transport/6", FULL)
def test_an_unknown_call_id_is_refused_cleanly(target: Target) -> None:
    with refused(), Client(target, {"call_id": "unknown"}, greeted=False) as client:
        client.closed(5.0)
        assert "session.created" not in client.types


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@check("transport/7", CORE)
def test_the_stock_openai_client_holds_a_text_turn(target: Target) -> None:
    openai = pytest.importorskip("openai")
    types = []
    api = openai.OpenAI(api_key=target.key, base_url=target.http_base)
    with api, api.realtime.connect(model=target.model) as connection:
        content = [{"type": "input_text", "text": "Say exactly: Hello there."}]
        item = {"type": "message", "role": "user", "content": content}
        connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        connection.conversation.item.create(item=item)
        connection.response.create()
        for event in connection:
            validate(event.to_dict(mode="json"))
            types.append(event.type)
            if event.type == "response.done":
                assert event.response.status == "completed"
                break
    assert "response.output_text.delta" in types
    assert "error" not in types


@check("transport/10-ping", FULL)
def test_a_ping_is_answered(client: Client) -> None:
    assert client.ws.ping().wait(5.0)


@pytest.mark.run_last
@check("transport/10", FULL)
def test_a_minute_of_silence_closes_nothing(
    target: Target, quiet_since_s: tuple[Client, float] | None
) -> None:
    assert quiet_since_s is not None
    client, began_s = quiet_since_s
    quiet_s = OWN_QUIET_S if target.ours else QUIET_S
    time.sleep(max(0.0, began_s + quiet_s - time.monotonic()))
    assert client.ws.ping().wait(5.0)
    client.sync()


@check("transport/headers", CORE)
def test_headers_of_stock_clients_are_tolerated(target: Target) -> None:
    headers = {
        "Authorization": f"Bearer {target.key}",
        "OpenAI-Organization": "org-1",
        "OpenAI-Project": "proj_1",
        "OpenAI-Safety-Identifier": "someone",
        "X-OpenAI-Agents-SDK": "openai-agents-sdk.0.20.0",
        "X-Stainless-Lang": "python",
    }
    with Client(target, additional_headers=headers) as client:
        client.sync()


@check("transport/browser-extras", FULL)
def test_organization_and_project_may_come_as_subprotocols(target: Target) -> None:
    names = (
        "realtime",
        "openai-insecure-api-key.{key}",
        "openai-organization.o",
        "openai-project.p",
    )
    subprotocols = offered(*names, key=target.key)
    with Client(target, subprotocols=subprotocols, additional_headers={}) as client:
        assert client.ws.subprotocol == "realtime"


@check("transport/compression", CORE)
def test_a_client_may_offer_compression(target: Target) -> None:
    with Client(target, compression="deflate") as client:
        assert client.ask("Say exactly: Hello.")["status"] == "completed"


@check("transport/binary", FULL)
def test_a_binary_frame_gets_an_error_and_closes_nothing(client: Client) -> None:
    client.send_frame(b"\x00\x01")
    assert client.error()["type"] == "invalid_request_error"
    client.sync()


@check("transport/path", FULL)
def test_another_path_is_no_session(target: Target) -> None:
    url = target.http_base.replace("http", "ws", 1) + "/nosuch"
    with pytest.raises((InvalidStatus, ConnectionClosed)), connect_websocket(url, proxy=None) as ws:
        ws.recv(5.0)


@check("transport/model", FULL)
@pytest.mark.parametrize("model", ["gpt-realtime-2.1", "modèle/ä:1"], ids=["newer", "odd"])
def test_any_model_is_served_or_refused_cleanly(connect: Callable[..., Client], model: str) -> None:
    with refused(), connect({"model": model}, greeted=False) as client:
        first = client.event_that(lambda _: True, "anything")
        assert first["type"] in ("session.created", "error")


@check("transport/pool", FULL)
def test_a_session_that_has_ended_holds_nothing(target: Target) -> None:
    before = target.in_use_at_rest()
    with Client(target):
        assert target.until_in_use(before + 1) == before + 1
    assert target.until_in_use(before) == before


@check("transport/vanish", FULL)
def test_a_client_that_vanishes_in_the_middle_of_an_answer_leaves_nothing(target: Target) -> None:
    before = target.in_use_at_rest()
    client = Client(target)
    with contextlib.suppress(GoneError), client:
        client.write("Count from one to fifty.")
        client.create()
        client.created()
        client.ws.socket.close()
        raise GoneError
    assert target.until_in_use(before) == before
