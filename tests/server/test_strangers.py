"""Whatever strangers put where a key belongs opens nothing, breaks nothing and is not told."""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from s2s_actors.actors.tally import Tally
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.limits import Limits, Visit
from tests.server.harness import FakePool, RawClient, client, http, listening, receive, run

LOCKED = Door(keys=KeyRing([ApiKey("mine", hash_of("sk-s2s-right"))]))
HANDSHAKE = (
    b"GET /v1/realtime?model=m&api_key=sk-s2s-canary HTTP/1.1\r\nHost: localhost\r\n"
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
)
KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

value = st.binary(max_size=120).filter(lambda b: b"\n" not in b and b"\r" not in b)
like_a_key = st.tuples(
    st.sampled_from(
        [b"", b"Bearer ", b"bearer\t", b"Basic ", b"realtime, openai-insecure-api-key."]
    ),
    st.one_of(value, st.just(b"sk-s2s-canary"), st.just(b"sk-s2s-canary" * 500)),
    st.sampled_from([b"", b",", b", realtime", b";q=1", b"\x00", b"\xff"]),
).map(b"".join)
name = st.sampled_from([b"Authorization", b"Sec-WebSocket-Protocol"])
headers = st.lists(st.tuples(name, like_a_key).map(b": ".join), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(headers)
@example([b"Authorization Bearer sk-s2s-canary"])
@example([b"Authorization: Bearer sk-s2s-canary\x7f"])
@example([b"Sec-WebSocket-Protocol: openai-insecure-api-key.sk-s2s-canary,,\x01"])
@example([b"Authorization: Bearer sk-s2s-canary"] * 120)
def test_nothing_but_a_key_opens_the_door(lines: list[bytes]) -> None:
    request = HANDSHAKE + KEY + b"".join(line + b"\r\n" for line in lines) + b"\r\n"

    async def scenario() -> tuple[bytes, FakePool]:
        pool = FakePool()
        async with listening(pool, door=LOCKED) as port:
            raw = await RawClient.open(port, handshake=False)
            raw.send(request)
            answer = await raw.read_to_end()
            await raw.close()
        return answer, pool

    answer, pool = run(scenario())
    assert pool.messages == []
    assert b"canary" not in answer
    # What is no request (RFC 9112) gets no answer at all.
    assert answer == b"" or answer.split()[1] in {b"400", b"401", b"431"}


@pytest.mark.parametrize(
    "bad",
    [
        b"Sec-WebSocket-Key: sk-s2s-canary\r\n",
        KEY + b"Sec-WebSocket-Protocol: openai-insecure-api-key.sk-s2s-canary,,;;x\r\n",
        KEY + b"Sec-WebSocket-Extensions: sk-s2s-canary;;\r\n",
        b"",
    ],
)
def test_a_handshake_that_is_none_is_refused_without_quoting_it(bad: bytes) -> None:
    async def scenario() -> None:
        # Without compression nobody reads the extensions.
        async with listening(FakePool(), compression=True) as port:
            status, answered, body = await http(port, HANDSHAKE + bad + b"\r\n")
            assert (status, answered["Content-Type"]) == (400, "application/json")
            assert b'"code":"invalid_handshake"' in body
            assert b"canary" not in body

    run(scenario())


def test_no_key_is_in_the_log_whether_it_is_right_or_wrong(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        pool = FakePool()
        async with listening(pool, door=LOCKED) as port:
            right = {"Authorization": "Bearer sk-s2s-right"}
            async with client(port, additional_headers=right) as ws:
                await receive(ws)
                assert "right" not in repr(pool.claims)
            await http(port, HANDSHAKE + KEY + b"Authorization: Bearer sk-s2s-canary\r\n\r\n")
            await http(port, b"GET /v1/pool?api_key=sk-s2s-canary HTTP/1.1\r\nHost: x\r\n\r\n")

    with caplog.at_level(logging.DEBUG):
        run(scenario())
    # The client of this test has a log of its own, and that one does show what it sends.
    ours = [r for r in caplog.records if not r.name.startswith("websockets.client")]
    told = [record.getMessage() for record in ours]
    assert told
    assert not [line for line in told if "sk-s2s" in line]


def test_neither_a_key_nor_its_hash_is_in_a_repr() -> None:
    key = ApiKey("mine", hash_of("sk-s2s-right"))
    visit = Visit(Limits(lambda: 0.0, Tally()), key)
    shown = [repr(each) for each in (key, visit, LOCKED, LOCKED.keys)]
    assert not [each for each in shown if hash_of("sk-s2s-right") in each or "sk-s2s" in each]
