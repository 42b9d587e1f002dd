"""Clients that send too much or read too little: bounded, told so, and in nobody's way."""

from __future__ import annotations

import asyncio
import base64
import gc
import statistics
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from s2s_actors.protocol.input_audio import MAX_BUFFER_MS
from s2s_actors.server.outbox import Outbox
from tests.server.harness import RawClient
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, ServeCommand, run
from tests.support.sound import silence

if TYPE_CHECKING:
    from tests.support.running_server import Address

MIB = 1024 * 1024
FLOOD_S = 600
PUSH_TO_TALK = {"input": {"turn_detection": None}}


def encoded(pcm: bytes) -> str:
    return base64.b64encode(pcm).decode()


async def answer_s(client: RealtimeClient) -> float:
    """How long a control event takes to be answered, with all that was sent before it."""
    began_s = time.perf_counter()
    await client.sync()
    return time.perf_counter() - began_s


async def flood(server: Address) -> list[float]:
    """Send ten minutes of audio as fast as they go; how long control events took meanwhile."""
    second = encoded(silence(1000))
    waits_s: list[float] = []
    async with RealtimeClient(server) as client:
        await client.update()
        for number in range(FLOOD_S):
            await client.send("input_audio_buffer.append", audio=second)
            if number % 60 == 59:
                waits_s.append(await answer_s(client))
        refused = {event["error"]["code"] for event in client.of("error")}
        assert refused <= {"input_backpressure", "item_retrieve_invalid_item_id"}
    await server.until_idle()
    return waits_s


def test_ten_minutes_of_audio_at_once_leave_the_memory_of_the_process_as_it_was() -> None:
    with ServeCommand("--units", "2", "--echo-guard", "off") as server:
        process = psutil.Process(server.pid)

        async def scenario() -> None:
            await flood(server)
            before_bytes = process.memory_info().rss
            for _ in range(2):
                waits_s = await flood(server)
                assert statistics.median(waits_s) < 1.0, "control events wait for the audio"
            grown_mib = (process.memory_info().rss - before_bytes) / MIB
            assert grown_mib < 40, f"grew by {grown_mib:.0f} MiB"

        run(scenario())


def test_a_buffer_that_is_full_refuses_whole_appends_and_can_still_be_committed() -> None:
    minute_ms = 60_000

    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.update(audio=PUSH_TO_TALK)
            minute = encoded(silence(minute_ms))
            for _ in range(MAX_BUFFER_MS // minute_ms):
                await client.send("input_audio_buffer.append", audio=minute)
            late = await client.send("input_audio_buffer.append", audio=minute)
            error = await client.error(event_id=late)
            assert (error["code"], error["param"]) == ("input_audio_buffer_full", "audio")
            await client.send("input_audio_buffer.commit")
            await client.event("input_audio_buffer.committed")
            # Had a part of it been kept, there would be something to commit.
            empty = await client.send("input_audio_buffer.commit")
            error = await client.error(event_id=empty)
            assert error["code"] == "input_audio_buffer_commit_empty"

    with RunningServer() as server:
        run(scenario())


async def read_slowly(raw: RawClient, every_s: float) -> None:
    """Read a byte now and then, until the server has had enough."""
    try:
        while await raw.reader.read(1):  # noqa: ASYNC110 - it is a pause, not a wait
            await asyncio.sleep(every_s)
    except ConnectionError:
        pass


def text_frame(text: str) -> bytes:
    """A masked frame (with a mask of zeros)."""
    payload = text.encode()
    return b"\x81\xff" + len(payload).to_bytes(8, "big") + bytes(4) + payload


@pytest.mark.parametrize("every_s", [0.1, 3600.0])
def test_who_reads_next_to_nothing_is_cut_in_time_and_nobody_else_notices(every_s: float) -> None:
    with RunningServer(units=2, write_timeout_s=1.0) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="other") as other:
                await other.update()
                before_s = statistics.median([await answer_s(other) for _ in range(30)])
                raw = await RawClient.open(server.port, limit=1024)
                reading = asyncio.create_task(read_slowly(raw, every_s))
                await server.until_pool(lambda pool: pool["in_use"] == 2)
                for _ in range(100):  # each is answered by as much: more than the sockets hold
                    raw.send(text_frame(UPDATE))
                meanwhile = [await answer_s(other) for _ in range(30)]
                assert statistics.median(meanwhile) < 20 * before_s
                await server.until_pool(lambda pool: pool["in_use"] == 1)
                assert sum(each._bytes for each in outboxes()) == 0
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
                await raw.close()
                await other.sync()

        run(scenario())


UPDATE = (
    '{"type":"session.update","session":{"type":"realtime","instructions":"' + "x" * 200_000 + '"}}'
)


def outboxes() -> list[Outbox]:
    return [each for each in gc.get_objects() if type(each) is Outbox]
