"""Whatever a client sends as text: each mistake is named once, and nobody else notices."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol.codec import decode
from tests.fuzz.damage import frames
from tests.fuzz.effort import SECONDS, examined
from tests.soak.serving import SoakedServer
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = 120
PING_S = 60.0
QUERIES = ("?model=test", "?model=test&conduct=plain", "?intent=transcription")
LONGEST_ID: Final = 512


@dataclass(frozen=True, slots=True)
class Visit:
    """One session: how it is opened, and what its client sends."""

    query: str
    texts: tuple[str, ...]


visits = st.builds(
    Visit,
    query=st.sampled_from(QUERIES),
    texts=st.lists(frames(), min_size=1, max_size=8).map(tuple),
)


def named(text: str) -> str | None:
    """The ``event_id`` of a frame that can't be decoded and has one that can be echoed."""
    try:
        decode(text)
    except ClientError as error:
        return error.event_id
    return None


async def settle(client: RealtimeClient) -> None:
    """Come to rest, whatever was left open."""
    assert client.checker.session is not None
    kind = client.checker.session["type"]
    session = {"type": kind, "audio": {"input": {"turn_detection": None}}}
    await client.send("session.update", session=session)
    await client.send("input_audio_buffer.clear")
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await client.sync()
            left = client.checker.open_responses
            if not (left or client.checker.open_utterances):
                return
            for response_id in left:
                await client.send("response.cancel", response_id=response_id)


async def visit(server: SoakedServer, planned: Visit, bystander: RealtimeClient) -> None:
    before = bystander.mark()
    client = RealtimeClient(server, planned.query)
    try:
        await speak_out(client, planned)
    finally:
        client.reset()  # after a failure somebody may still be there
    assert bystander.mark() == before, "somebody else's events reached a bystander"


async def speak_out(client: RealtimeClient, planned: Visit) -> None:
    async with client:
        await client.event("session.created")
        for text in planned.texts:
            await client.send_raw(text)
        await settle(client)
        errors = Counter(event["error"].get("event_id") for event in client.of("error"))
    wanted = Counter(id_ for text in planned.texts if (id_ := named(text)) is not None)
    for event_id, count in wanted.items():
        assert errors[event_id] == count, f"{errors[event_id]} errors for {event_id}"


@pytest.mark.timeout(120 + 2 * SECONDS)
def test_each_mistake_is_named_once_and_nobody_else_notices(tmp_path: Path) -> None:
    with (
        SoakedServer(tmp_path / "server.log", units=2, ping_s=PING_S) as server,
        asyncio.Runner() as runner,
    ):
        bystander = RealtimeClient(server, name="bystander")
        runner.run(bystander.__aenter__())
        runner.run(bystander.play("Turn {n}."))
        examined(
            visits,
            lambda planned: runner.run(visit(server, planned, bystander)),
            examples=EXAMPLES,
        )
        answer = runner.run(bystander.ask("still there?"))
        assert "Turn 1." in json.dumps(answer)
        runner.run(bystander.__aexit__(None, None, None))
        pool = runner.run(server.until_idle())
        assert sum(unit["restarts"] for unit in pool["units"]) == 0
    assert server.complaints() == []
    assert server.exit_code == 0
