"""Whatever bytes a client sends: it may lose its own session by that, and nobody else's."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from tests.fuzz.effort import SECONDS, examined
from tests.fuzz.wire_frames import in_pieces, odd_bytes
from tests.server.harness import RawClient
from tests.soak.serving import SoakedServer
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

EXAMPLES = 120
PING_S = 60.0

REQUEST = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Version: 13\r\n\r\n"
)
requests = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda at, piece, count: REQUEST[:at] + piece + REQUEST[at + count :],
        st.integers(0, 150),
        st.binary(max_size=12),
        st.integers(0, 12),
    ),
)
"""Bytes in the place of a request: any, or one that has been tampered with."""
pieces = st.tuples(
    st.text(max_size=300),
    st.lists(st.integers(0, 500), max_size=6),
    st.binary(min_size=4, max_size=4),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoakedServer]:
    """A process that must not complain of anything, nor leave anything behind."""
    with SoakedServer(tmp_path / "server.log", units=3, ping_s=PING_S) as running:
        yield running
    assert running.complaints() == []
    assert running.exit_code == 0


def examined_beside_a_bystander(
    server: SoakedServer,
    strategy: st.SearchStrategy[Any],
    check: Callable[[Any], Coroutine[Any, Any, None]],
) -> None:
    """Check examples; somebody's session goes on all the while, and all others end."""
    with asyncio.Runner() as runner:
        bystander = RealtimeClient(server, name="bystander")
        runner.run(bystander.__aenter__())
        runner.run(bystander.play("Turn {n}."))
        before = bystander.mark()
        examined(strategy, lambda example: runner.run(check(example)), examples=EXAMPLES)
        assert bystander.mark() == before
        assert "Turn 1." in json.dumps(runner.run(bystander.ask("still there?")))
        runner.run(server.until_pool(lambda pool: pool["in_use"] == 1))
        runner.run(bystander.__aexit__(None, None, None))
        pool = runner.run(server.until_idle())
        assert sum(unit["restarts"] for unit in pool["units"]) == 0


@pytest.mark.timeout(60 + 2 * SECONDS)
def test_a_message_in_any_pieces_is_taken_as_a_whole(server: SoakedServer) -> None:
    async def check(example: tuple[str, list[int], bytes]) -> None:
        text, cuts, mask = example
        event = {"type": "response.cancel", "event_id": "pieces", "response_id": text}
        raw = await RawClient.open(server.port)
        raw.send(in_pieces(json.dumps(event, ensure_ascii=False), cuts, mask))
        async with asyncio.timeout(PATIENCE_S):
            answer = await raw.reader.readuntil(b'"event_id":"pieces"')
        assert b"response_cancel_not_active" in answer
        raw.reset()

    examined_beside_a_bystander(server, pieces, check)


@pytest.mark.timeout(60 + 2 * SECONDS)
def test_frames_that_are_none_cost_nobody_else_anything(server: SoakedServer) -> None:
    async def check(example: bytes) -> None:
        raw = await RawClient.open(server.port)
        raw.send(example)
        raw.writer.write_eof()
        await raw.read_to_end()  # the server hangs up, whatever it made of it
        await raw.close()

    examined_beside_a_bystander(server, odd_bytes, check)


@pytest.mark.timeout(60 + 2 * SECONDS)
def test_requests_that_are_none_cost_nobody_anything(server: SoakedServer) -> None:
    async def check(example: bytes) -> None:
        raw = await RawClient.open(server.port, handshake=False)
        raw.send(example)
        raw.writer.write_eof()
        await raw.read_to_end()
        await raw.close()

    examined_beside_a_bystander(server, requests, check)
