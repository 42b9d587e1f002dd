"""The port for plain HTTP: all answers, and what becomes of bad, slow and hostile requests."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus

from s2s_actors.errors import SetupError
from s2s_actors.protocol.session_start import SessionStart
from s2s_actors.server import companion as companion_module
from s2s_actors.server.client_secrets import ClientSecrets
from s2s_actors.server.companion import SECRETS_PATH, CompanionPlan
from s2s_actors.server.crowd import CrowdLimits
from s2s_actors.server.door import Door
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.listener import Listener, bind
from s2s_actors.server.minting import MAX_BODY_BYTES
from s2s_actors.server.options import ServerOptions
from tests.server.boards import FixedBoard, no_load
from tests.server.harness import FakePool, RawClient, client, http, receive, run
from tests.server.test_refusals import reasons_told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from s2s_actors.actors.messages import Claim
    from s2s_actors.actors.tally import Tally

SECRET = "sk-s2s-open-sesame"  # noqa: S105 - opens nothing
KITCHEN = ApiKey("kitchen", hash_of(SECRET), max_sessions=1)
KEY = {"Authorization": f"Bearer {SECRET}"}
START = SessionStart("", "local", "Be kind.", 3600.0, 0)
FEW = 3


@dataclass(slots=True)
class Ports:
    """A server with both of its ports."""

    ws: int
    http: int
    door: Door
    tally: Tally
    pool: FakePool = field(default_factory=FakePool)

    async def send(
        self, method: str, path: str, body: bytes = b"", /, **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Ask the companion; the answer's body as JSON."""
        given = {"Host": f"127.0.0.1:{self.http}", "Content-Length": str(len(body))}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**given, **named}.items())
        head = f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()
        status, answered, raw = await http(self.http, head + body)
        return status, answered, json.loads(raw) if raw.startswith(b"{") else raw

    async def mint(self, body: object = None, **headers: str) -> tuple[int, Any]:
        """Ask for a client secret."""
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        given = {"Content_Type": "application/json", **KEY, **headers}
        status, _, answer = await self.send("POST", SECRETS_PATH, raw, **given)
        return status, answer

    async def secret(self, **body: object) -> str:
        """A fresh client secret."""
        status, answer = await self.mint(body)
        assert status == 200, answer
        assert isinstance(answer["value"], str)
        return answer["value"]


@contextlib.asynccontextmanager
async def serving(*, keys: KeyRing | None = None, **options: Any) -> AsyncIterator[Ports]:
    """A server before a pool that grants everything."""
    health, http_port = no_load(), [0]
    door = Door(keys=keys, secrets=ClientSecrets(health.now_s, most=FEW))
    given = ServerOptions(
        **{"port": 0, "close_timeout_s": 0.5, "handshake_timeout_s": 0.3, **options}, door=door
    )
    endpoints = Endpoints(
        FixedBoard(), (), health=health, is_draining=lambda: False, show_session_ids=True
    )
    ports = Ports(0, 0, door, endpoints.tally)
    plan = CompanionPlan(bind("127.0.0.1", 0), START, http_port.append)
    async with (
        Listener(given, ports.pool, endpoints, health) as listener,
        plan.listening(given, endpoints, health.now_s),
    ):
        ports.ws, ports.http = listener.port, http_port[-1]
        yield ports


LOCKED = KeyRing([KITCHEN])


@pytest.mark.parametrize("path", ["/health", "/ready", "/v1/pool", "/v1/models", "/v1/usage"])
def test_what_the_first_port_tells_the_second_one_tells_too(path: str) -> None:
    async def scenario() -> None:
        async with serving() as ports:
            status, headers, body = await ports.send("GET", path)
            assert (status, headers["Content-Type"]) == (200, "application/json")
            status, headers, empty = await ports.send("HEAD", path)
            assert (status, empty) == (200, b"")
            assert (
                int(headers["Content-Length"]) == len(json.dumps(body, separators=(",", ":"))) + 1
            )

    run(scenario())


def test_figures_need_a_key_on_the_second_port_too() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            assert (await ports.send("GET", "/metrics"))[0] == 401
            status, _, body = await ports.send("GET", "/metrics", **KEY)
            assert status == 200
            assert b"s2s_sessions_total" in body
            _, _, pool = await ports.send("GET", "/v1/pool")
            assert pool["units"][0]["since"] is None

    run(scenario())


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("POST", "/health", 405, "GET, HEAD"),
        ("DELETE", "/metrics", 405, "GET, HEAD"),
        ("GET", SECRETS_PATH, 405, "POST"),
        ("OPTIONS", SECRETS_PATH, 405, "POST"),
        ("GET", "/", 404, None),
        ("POST", "/v1/realtime", 404, None),
    ],
)
def test_wrong_paths_and_methods_are_named_in_the_shape_of_openai(
    method: str, path: str, status: int, allowed: str | None
) -> None:
    async def scenario() -> None:
        async with serving() as ports:
            answered, headers, body = await ports.send(method, path)
            assert (answered, headers.get("Allow")) == (status, allowed)
            assert set(body["error"]) == {"message", "type", "param", "code"}
            assert headers["Content-Type"] == "application/json"
            if status == 404:
                assert SECRETS_PATH in body["paths"]
                assert "/v1/realtime" not in body["paths"]

    run(scenario())


def test_a_secret_is_made_as_openai_makes_them() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            body = {
                "expires_after": {"anchor": "created_at", "seconds": 60},
                "session": {"type": "realtime", "model": "mine", "instructions": "Be brief."},
            }
            status, made = await ports.mint(body)
            assert status == 200
            assert set(made) == {"value", "expires_at", "session"}
            assert re.fullmatch(r"ek_[A-Za-z0-9_-]{43}", made["value"])
            session = made["session"]
            assert (session["type"], session["model"]) == ("realtime", "mine")
            assert session["instructions"] == "Be brief."
            _, usual = await ports.mint({})
            assert usual["session"]["instructions"] == "Be kind."
            assert 530 <= usual["expires_at"] - made["expires_at"] <= 550

    run(scenario())


def test_secrets_of_mcp_servers_are_not_shown_again() -> None:
    server = {
        "type": "mcp",
        "server_label": "meteo",
        "server_url": "http://127.0.0.1:9/mcp",
        "authorization": "canary",
    }

    async def scenario() -> None:
        async with serving() as ports:
            status, made = await ports.mint({"session": {"type": "realtime", "tools": [server]}})
            assert status == 200
            assert "canary" not in str(made)
            assert made["session"]["tools"][0]["server_label"] == "meteo"

    run(scenario())


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"expires_after": {"seconds": 9}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": 7201}}, "expires_after.seconds"),
        ({"expires_after": {"anchor": "never"}}, "expires_after.anchor"),
        ({"session": 7}, "session"),
        ({"session": {}}, "session.type"),
        ({"session": {"type": "realtime", "id": "sess_1"}}, "session.id"),
        ({"session": {"type": "realtime", "model": 7}}, "session.model"),
        ({"session": {"type": "realtime", "mood": "good"}}, "session.mood"),
        (
            {"session": {"type": "realtime", "audio": {"output": {"speed": 9}}}},
            "session.audio.output.speed",
        ),
        ({"session": {"type": "transcription", "instructions": "x"}}, "session.instructions"),
        ({"session": {"type": "song"}}, "session.type"),
        ({"mood": "good"}, "mood"),
        (b"[]", None),
        (b"{", None),
        (b"\xff", None),
        (b"[" * 60_000, None),
    ],
)
def test_what_no_session_could_have_is_refused_by_name(body: object, param: str | None) -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            status, answer = await ports.mint(body)
            assert status == 400, answer
            assert answer["error"]["param"] == param
            assert answer["error"]["type"] == "invalid_request_error"

    run(scenario())


def test_only_a_key_makes_secrets_and_no_secret_makes_others() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            for authorization in ("", "Bearer wrong", f"Bearer {await ports.secret()}"):
                status, answer = await ports.mint(Authorization=authorization)
                assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
            status, answer = await ports.mint(Origin="https://evil.example")
            assert (status, answer["error"]["code"]) == (403, "origin_not_allowed")

    run(scenario())


def test_without_keys_only_this_machine_makes_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> int:
        async with serving() as ports:
            return (await ports.mint(Authorization=""))[0]

    assert run(scenario()) == 200
    monkeypatch.setattr(companion_module, "_is_local", lambda _: False)
    assert run(scenario()) == 403


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        (("127.0.0.1", 1), True),
        (("127.8.8.8", 1), True),
        (("::1", 1, 0, 0), True),
        (("::ffff:127.0.0.1", 1, 0, 0), True),
        (("192.0.2.1", 1), False),
        (("::ffff:192.0.2.1", 1, 0, 0), False),
        (("fe80::1%eth0", 1, 0, 2), False),
        ("", False),
        (None, False),
    ],
)
def test_this_machine_is_told_from_others(address: object, *, is_local: bool) -> None:
    assert companion_module._is_local(address) is is_local


def test_each_key_has_a_bounded_number_of_secrets() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            for _ in range(FEW):
                await ports.secret()
            status, answer = await ports.mint()
            assert (status, answer["error"]["code"]) == (429, "rate_limit_exceeded")
            assert SECRET not in str(answer)

    run(scenario())


def test_who_gets_no_secret_or_no_figures_is_counted_by_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            await ports.mint(Authorization="Bearer sk-s2s-wrong")
            await ports.mint(Origin="https://evil.example")
            await ports.send("GET", "/metrics", Authorization="Bearer ek_gone")
            await ports.send("GET", "/metrics")
            for _ in range(FEW + 1):
                await ports.mint()
            assert ports.tally.read().refused == {
                "invalid_api_key": 1,
                "invalid_client_secret": 1,
                "origin_not_allowed": 1,
                "missing_api_key": 1,
                "key_client_secrets": 1,
            }
            assert {*ports.tally.read().refused, "client_secrets_need_keys"} <= reasons_told()
        monkeypatch.setattr(companion_module, "_is_local", lambda _: False)
        async with serving() as ports:
            await ports.mint()
            assert ports.tally.read().refused == {"client_secrets_need_keys": 1}

    run(scenario())


def test_who_guesses_keys_is_told_of_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            for _ in range(5):
                assert (await ports.mint(Authorization="Bearer sk-s2s-canary"))[0] == 401

    run(scenario())
    warnings = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert warnings == ["a request from 127.0.0.1 was refused: 401"]


def test_a_body_is_json_and_not_too_long() -> None:
    async def scenario() -> None:
        async with serving() as ports:
            for kind in ("text/plain", "", "application/x-www-form-urlencoded"):
                status, answer = await ports.mint(Content_Type=kind)
                assert (status, answer["error"]["code"]) == (415, "unsupported_content_type")
            assert (await ports.mint(Content_Type="application/json; charset=utf-8"))[0] == 200
            status, answer = await ports.mint(b" " * (MAX_BODY_BYTES + 1))
            assert (status, answer["error"]["code"]) == (413, "body_too_large")
            assert (await ports.mint(b"{}" + b" " * (MAX_BODY_BYTES - 2)))[0] == 200

    run(scenario())


def head_of(ports: Ports, *lines: str) -> bytes:
    named = (f"Host: 127.0.0.1:{ports.http}", "Content-Type: application/json", *lines)
    return "\r\n".join([f"POST {SECRETS_PATH} HTTP/1.1", *named, "", ""]).encode()


def test_a_body_may_come_in_pieces_and_they_are_counted() -> None:
    async def scenario() -> None:
        async with serving() as ports:
            head = head_of(ports, "Transfer-Encoding: chunked")
            status, _, _ = await http(ports.http, head + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
            assert status == 200
            chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
            status, _, _ = await http(ports.http, head + chunk * 20)
            assert status == 413

    run(scenario())


def test_who_asks_before_sending_a_body_is_told_to_go_on() -> None:
    async def scenario() -> bytes:
        async with serving() as ports:
            raw = await RawClient.open(ports.http, handshake=False)
            raw.send(head_of(ports, "Content-Length: 2", "Expect: 100-continue"))
            assert b" 100 " in await raw.reader.readuntil(b"\r\n\r\n")
            raw.send(b"{}")
            answer = await raw.read_to_end()
            await raw.close()
            return answer

    assert run(scenario()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", ["head", "body", "nothing"])
def test_a_request_that_comes_too_slowly_is_cut_off(sent: str) -> None:
    async def scenario() -> bytes:
        async with serving() as ports:
            raw = await RawClient.open(ports.http, handshake=False)
            if sent != "nothing":
                whole = head_of(ports, "Content-Length: 2") + b"{"
                raw.send(whole if sent == "body" else whole[:-10])
            answer = await raw.read_to_end()
            await raw.close()
            assert (await ports.send("GET", "/health"))[0] == 200, "others are served"
            return answer

    assert b" 408 " in run(scenario())


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nCanary\r\n\r\n",
        b"GET /" + b"a" * 70_000,
        b"GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_not_quoted(request_bytes: bytes) -> None:
    async def scenario() -> tuple[int, dict[str, str], bytes]:
        async with serving() as ports:
            return await http(ports.http, request_bytes)

    status, _, body = run(scenario())
    assert status in {400, 431}
    assert json.loads(body)["error"]["message"]
    assert b"anary" not in body


def test_clients_that_vanish_leave_nothing_behind() -> None:
    async def scenario() -> None:
        async with serving() as ports:
            for sent in (b"", b"GET /hea", head_of(ports, "Content-Length: 9") + b"{"):
                raw = await RawClient.open(ports.http, handshake=False)
                raw.send(sent)
                raw.reset()
                left = await RawClient.open(ports.http, handshake=False)
                left.send(sent)
                await left.close()
            assert (await ports.send("GET", "/health"))[0] == 200

    run(scenario())


def test_the_server_stops_although_requests_are_under_way() -> None:
    async def scenario() -> None:
        async with serving(handshake_timeout_s=60.0) as ports:
            raw = await RawClient.open(ports.http, handshake=False)
            raw.send(b"GET /health HTTP/1.1\r\n")
            assert (await ports.send("GET", "/health"))[0] == 200
        assert await raw.read_to_end() == b""
        await raw.close()

    run(scenario())


def test_too_many_requests_at_a_time_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = CrowdLimits(connections=8, newcomers=2)
    monkeypatch.setattr(companion_module, "_CROWD", limits)

    async def scenario() -> None:
        async with serving(handshake_timeout_s=60.0) as ports:
            silent = [await RawClient.open(ports.http, handshake=False) for _ in range(2)]
            assert (await ports.send("GET", "/health"))[0] == 429
            for raw in silent:
                await raw.close()

    run(scenario())


def test_a_port_in_use_is_named_by_its_flag() -> None:
    async def scenario() -> None:
        async with serving() as ports:
            with pytest.raises(SetupError) as refused:
                bind("127.0.0.1", ports.http, "--http-port")
            assert refused.value.hint is not None
            assert "--http-port" in refused.value.hint

    run(scenario())


# --- sessions ---------------------------------------------------------------------------


async def opened(ports: Ports, value: str, *, how: str = "header", path: str = "") -> Claim:
    """Open a session with a secret, leave it, and return what it has claimed."""
    offers: dict[str, Any] = {"additional_headers": {"Authorization": f"Bearer {value}"}}
    if how == "subprotocol":
        offers = {"subprotocols": ["realtime", f"openai-insecure-api-key.{value}"]}
    async with client(ports.ws, path or "/v1/realtime", **offers) as ws:
        assert (await receive(ws))["type"] == "session.created"
        claim = ports.pool.claims[-1]
    await ports.pool.ended(len(ports.pool.claims))
    return claim


@pytest.mark.parametrize("how", ["header", "subprotocol"])
def test_a_secret_opens_sessions_that_begin_as_it_says(how: str) -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            settings = {"type": "realtime", "model": "mine", "instructions": "Be brief."}
            value = await ports.secret(session=settings)
            for _ in range(2):
                wish = (await opened(ports, value, how=how)).wish
                assert wish.settings == settings
                assert (wish.model, wish.transcription) == ("mine", False)
            wish = (await opened(ports, value, path="/v1/realtime?model=other")).wish
            assert wish.model == "other"

    run(scenario())


def test_a_secret_says_what_kind_of_session_it_opens() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            value = await ports.secret(session={"type": "transcription"})
            assert (await opened(ports, value)).wish.transcription
            talks = await ports.secret(session={"type": "realtime"})
            path = "/v1/realtime?intent=transcription"
            assert not (await opened(ports, talks, path=path)).wish.transcription

    run(scenario())


def test_a_secret_counts_against_its_key() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            headers = {"Authorization": f"Bearer {await ports.secret()}"}
            async with client(ports.ws, additional_headers=headers) as ws:
                assert (await receive(ws))["type"] == "session.created"
                async with client(ports.ws, additional_headers=KEY) as second:
                    refused = await receive(second)
                assert refused["error"]["code"] == "session_limit_reached"

    run(scenario())


def test_a_secret_opens_nothing_once_its_key_is_gone_and_its_sessions_go_on() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            headers = {"Authorization": f"Bearer {await ports.secret()}"}
            async with client(ports.ws, additional_headers=headers) as ws:
                await receive(ws)
                ports.door.keys = KeyRing([ApiKey("hall", hash_of("sk-s2s-hall"))])
                with pytest.raises(InvalidStatus) as refused:
                    async with client(ports.ws, additional_headers=headers):
                        pass
                assert refused.value.response.status_code == 401
                await (await ws.ping())

    run(scenario())


def test_a_secret_that_is_unknown_opens_nothing_even_where_nobody_needs_a_key() -> None:
    async def scenario() -> None:
        async with serving() as ports:
            value = await ports.secret(session={"type": "realtime", "instructions": "x"})
            wish = (await opened(ports, value)).wish
            assert wish.settings is not None
            assert (await opened(ports, "whatever")).wish.settings is None
            with pytest.raises(InvalidStatus) as refused:
                await opened(ports, value + "x")
            assert refused.value.response.status_code == 401, "its settings would be missed"

    run(scenario())


def test_a_secret_shows_no_figures() -> None:
    async def scenario() -> None:
        async with serving(keys=LOCKED) as ports:
            lent = {"Authorization": f"Bearer {await ports.secret()}"}
            assert (await ports.send("GET", "/metrics", **lent))[0] == 401
            _, _, pool = await ports.send("GET", "/v1/pool", **lent)
            assert pool["units"][0]["since"] is None

    run(scenario())


def test_nothing_that_was_sent_or_made_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "s2s_actors")

    async def scenario() -> str:
        async with serving(keys=LOCKED) as ports:
            value = await ports.secret(session={"type": "realtime", "instructions": "canary"})
            await ports.mint({"session": {"type": "realtime", "canary": 1}})
            await opened(ports, value)
            return value

    value = run(scenario())
    assert "a client secret for 600 s was made" in caplog.text
    for hidden in (value.removeprefix("ek_"), "canary", "open-sesame"):
        assert hidden not in caplog.text
