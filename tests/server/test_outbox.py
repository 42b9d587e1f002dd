"""The outbox keeps order and bounds, and wakes the loop once a burst."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.server.outbox import Farewell, Outbox
from tests.server.boards import no_load
from tests.server.harness import run


def make(limit_events: int = 100, limit_bytes: int = 1000, health: Health | None = None) -> Outbox:
    return Outbox(limit_events=limit_events, limit_bytes=limit_bytes, health=health or no_load())


async def drain(outbox: Outbox) -> list[bytes | Farewell]:
    items: list[bytes | Farewell] = []
    while not items or not isinstance(items[-1], Farewell):
        items.append(await outbox.next())
    return items


def test_events_of_each_thread_come_out_in_their_order_and_the_farewell_last() -> None:
    async def scenario() -> None:
        outbox = make(10_000, 1_000_000)

        def produce(name: str) -> None:
            for number in range(500):
                outbox.send(f"{name}{number}".encode())

        threads = [threading.Thread(target=produce, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()

        async def finish() -> None:
            for thread in threads:
                await asyncio.to_thread(thread.join)
            outbox.close(1000, "done")

        task = asyncio.create_task(finish())
        *events, farewell = await drain(outbox)
        await task
        assert farewell == Farewell(1000, "done")
        for name in (b"a", b"b"):
            mine = [event for event in events if isinstance(event, bytes) and event[:1] == name]
            assert mine == [name + str(number).encode() for number in range(500)]

    run(scenario())


def test_nothing_comes_after_the_farewell_and_only_the_first_one_counts() -> None:
    async def scenario() -> None:
        outbox = make()
        outbox.send(b"a")
        outbox.close(1001, "first")
        outbox.close(1000, "second")
        outbox.send(b"late")
        assert await drain(outbox) == [b"a", Farewell(1001, "first")]
        assert await outbox.next() == Farewell(1001, "first")

    run(scenario())


def test_a_burst_wakes_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        calls: list[object] = []
        original = loop.call_soon_threadsafe

        def counted(callback: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append(callback)
            return original(callback, *args, **kwargs)

        outbox = make()
        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        for _ in range(2):
            reader = asyncio.create_task(outbox.next())
            await asyncio.sleep(0)
            for number in range(50):
                outbox.send(b"%d" % number)
            assert await reader == b"0"
            for _ in range(49):
                await outbox.next()
        assert len(calls) == 2

    run(scenario())


@pytest.mark.parametrize(("limit_events", "limit_bytes"), [(2, 1000), (100, 5)])
def test_an_overflow_is_reported_and_empties_the_outbox(
    limit_events: int, limit_bytes: int
) -> None:
    async def scenario() -> None:
        outbox = make(limit_events, limit_bytes)
        outbox.send(b"ab")
        outbox.send(b"cd")
        assert not outbox.overflowed.done()
        outbox.send(b"ef")
        outbox.send(b"gh")
        outbox.close(1000, "")
        await outbox.overflowed
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await outbox.next()

    run(scenario())


def test_what_was_read_makes_room() -> None:
    async def scenario() -> None:
        outbox = make(2, 4)
        for _ in range(20):
            outbox.send(b"ab")
            outbox.send(b"cd")
            assert await outbox.next() == b"ab"
            assert await outbox.next() == b"cd"
        await asyncio.sleep(0)
        assert not outbox.overflowed.done()

    run(scenario())


def test_an_answer_waits_for_the_first_event_of_the_session() -> None:
    async def scenario() -> None:
        outbox = make()
        outbox.answer(b"error 1")
        outbox.answer(b"error 2")
        outbox.send(b"created")
        outbox.answer(b"error 3")
        outbox.close(1000, "")
        assert (await drain(outbox))[:-1] == [b"created", b"error 1", b"error 2", b"error 3"]

    run(scenario())


def test_what_is_announced_comes_at_once_and_is_no_first_event() -> None:
    async def scenario() -> None:
        outbox = make()
        outbox.answer(b"error")
        outbox.announce(b"you are next")
        assert await outbox.next() == b"you are next"
        outbox.send(b"created")
        outbox.close(1000, "")
        outbox.announce(b"too late")
        assert (await drain(outbox))[:-1] == [b"created", b"error"]

    run(scenario())


def test_an_announcement_wakes_who_waits() -> None:
    async def scenario() -> None:
        outbox = make()
        reader = asyncio.create_task(outbox.next())
        await asyncio.sleep(0)
        await asyncio.to_thread(outbox.announce, b"you are next")
        assert await reader == b"you are next"

    run(scenario())


def test_how_late_the_loop_is_woken_is_noted() -> None:
    class Notes(Health):
        def __init__(self) -> None:
            super().__init__(clock, HealthLimits())
            self.late_s: list[float] = []

        def note(self, source: str, late_s: float) -> None:
            assert source == "events"
            self.late_s.append(late_s)

    clock = ManualClock()

    async def scenario() -> None:
        notes = Notes()
        outbox = make(health=notes)
        await asyncio.sleep(0.02)  # a loop that has slept is not late for that
        outbox.send(b"a")
        clock.advance(0.25)
        await asyncio.sleep(0)
        assert notes.late_s == [0.25]
        await outbox.next()
        await asyncio.sleep(0)
        assert len(notes.late_s) == 1, "an outbox in which nothing happens wakes nobody"

    run(scenario())


def test_answers_that_wait_are_bounded() -> None:
    async def scenario() -> None:
        outbox = make(limit_events=3)
        for _ in range(1000):
            outbox.answer(b"error")
        assert outbox._held == [b"error"] * 3

    run(scenario())


def test_a_reason_is_cut_to_what_a_close_frame_can_carry() -> None:
    async def scenario() -> None:
        outbox = make()
        outbox.close(1013, "x" + "ä" * 100)
        farewell = await outbox.next()
        assert isinstance(farewell, Farewell)
        assert len(farewell.reason.encode()) <= 123
        assert farewell.reason == "x" + "ä" * 61

    run(scenario())


def test_sending_to_an_outbox_whose_loop_is_closed_does_nothing() -> None:
    async def scenario() -> Outbox:
        return make()

    outbox = run(scenario())
    outbox.send(b"late")
    outbox.close(1000, "")


def test_a_discarded_outbox_takes_nothing_more() -> None:
    async def scenario() -> None:
        outbox = make()
        outbox.send(b"a")
        outbox.discard()
        outbox.send(b"b")
        assert outbox._frames == type(outbox._frames)()

    run(scenario())
