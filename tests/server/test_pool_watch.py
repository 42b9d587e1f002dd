"""A server whose pool has failed ends, with an exit code that says so."""

from __future__ import annotations

import asyncio

from s2s_actors.runtime.supervision import Crashed
from s2s_actors.server.app import PoolWatch, Stop

REPORT = Crashed("pool", "urn:pool", RuntimeError("no thread to be had"))


def test_a_pool_that_fails_while_the_server_runs_ends_it() -> None:
    async def run() -> None:
        watch, stop = PoolWatch(), Stop()
        watch.watch_for(stop)
        assert not stop.drain.is_set()
        await asyncio.to_thread(watch.put, REPORT)
        async with asyncio.timeout(10):
            await stop.force.wait()
        assert stop.drain.is_set()
        assert watch.failed

    asyncio.run(run())


def test_a_pool_that_failed_before_the_server_runs_ends_it_too() -> None:
    async def run() -> None:
        watch, stop = PoolWatch(), Stop()
        watch.put(REPORT)
        watch.watch_for(stop)
        assert stop.force.is_set()

    asyncio.run(run())


def test_a_report_that_comes_after_the_server_has_ended_is_only_noted() -> None:
    watch = PoolWatch()

    async def run() -> None:
        watch.watch_for(Stop())

    asyncio.run(run())
    watch.put(REPORT)
    assert watch.failed
