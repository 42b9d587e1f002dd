"""A whole server that is behind its time: who gets in, who waits, and what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.server.harness import client, get, receive
from tests.support import strict_events
from tests.support.running_server import RunningServer, run

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection


def burden(server: RunningServer) -> None:
    """Let the sound of the last moment have been three seconds late."""
    for _ in range(10_000):
        server.health.note("hearing", 3.0)


def careful(**settings: Any) -> RunningServer:
    return RunningServer(**{"admission": "load", **settings})


async def greeted(ws: ClientConnection) -> None:
    assert (await receive(ws))["type"] == "session.created"


def test_behind_its_time_a_server_serves_on_but_takes_nobody_else() -> None:
    with careful() as server:

        async def scenario() -> None:
            async with client(server.port) as first:
                await greeted(first)
                burden(server)
                async with client(server.port) as second:
                    error = await receive(second)
                    assert error["error"]["code"] == "server_is_overloaded"
                    assert "Try again in 5 s" in error["error"]["message"]
                    await second.wait_closed()
                    assert second.close_code == 1013
                status, _, ready = await get(server.port, "/ready")
                assert (status, ready["reason"]) == (503, "overloaded")
                pool = await server.pool()
                assert not pool["load"]["admitting"]
                assert pool["totals"]["refused_for_load"] == 1
                await first.send('{"type":"session.update","session":{"type":"realtime"}}')
                assert (await receive(first))["type"] == "session.updated"

        run(scenario())


def test_who_waits_for_the_load_to_fall_gets_in_when_it_has() -> None:
    with careful(queue=2, queue_timeout_s=30) as server:

        async def scenario() -> None:
            async with client(server.port) as first:
                await greeted(first)
                burden(server)
                async with client(server.port, "/v1/realtime?queue_events=1") as second:
                    told = await receive(second)
                    strict_events.validate(told)
                    assert (told["type"], told["position"]) == ("queue.position", 1)
                    pool = await server.pool()
                    assert (pool["in_use"], pool["queue"]["length"]) == (1, 1)
                    assert pool["queue"]["oldest_wait_s"] < 30
                    await greeted(second)
                    assert (await server.pool())["totals"]["waited"] == 1

        run(scenario())


def test_who_waits_for_a_unit_learns_of_each_place_and_then_of_the_session() -> None:
    with careful(units=1, queue=2) as server:
        path = "/v1/realtime?queue_events=1"

        async def scenario() -> None:
            async with client(server.port) as first, client(server.port, path) as second:
                await greeted(first)
                assert (await receive(second))["position"] == 1
                async with client(server.port, path) as third:
                    assert (await receive(third))["position"] == 2
                    await first.close()
                    await greeted(second)
                    moved = await receive(third)
                    assert moved["position"] == 1
                    assert moved["estimated_wait_s"] >= 0
                    await second.close()
                    await greeted(third)

        run(scenario())


def test_where_only_units_count_no_load_keeps_anyone_out() -> None:
    with careful(admission="units") as server:

        async def scenario() -> None:
            async with client(server.port) as first:
                await greeted(first)
                burden(server)
                async with client(server.port) as second:
                    await greeted(second)
                assert (await get(server.port, "/ready"))[0] == 200

        run(scenario())
