"""An answer arrives exactly once, or its sender knows that it did not."""

from __future__ import annotations

import asyncio
import threading

from s2s_actors.runtime.reply import ReplyPort


def test_the_first_answer_arrives_and_the_second_is_refused() -> None:
    port: ReplyPort[int] = ReplyPort()
    assert port.send(1)
    assert not port.send(2)
    assert port.future.result(timeout=0) == 1


def test_nobody_is_answered_after_withdrawing() -> None:
    port: ReplyPort[int] = ReplyPort()
    assert port.withdraw() is None
    assert port.withdraw() is None
    assert not port.send(1)


def test_withdrawing_too_late_hands_the_answer_over() -> None:
    port: ReplyPort[int] = ReplyPort()
    assert port.send(1)
    assert port.withdraw() == 1


def test_a_coroutine_gets_the_answer_of_a_thread() -> None:
    async def ask() -> int:
        port: ReplyPort[int] = ReplyPort()
        thread = threading.Thread(target=port.send, args=(7,))
        thread.start()
        try:
            return await asyncio.wrap_future(port.future)
        finally:
            thread.join()

    assert asyncio.run(ask()) == 7


async def _race() -> bool:
    """Cancel the waiting coroutine while another thread answers."""
    port: ReplyPort[int] = ReplyPort()
    sent: list[bool] = []
    received: list[int] = []

    async def ask() -> None:
        try:
            received.append(await asyncio.wrap_future(port.future))
        except asyncio.CancelledError:
            late = port.withdraw()
            if late is not None:
                received.append(late)
            raise

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    thread = threading.Thread(target=lambda: sent.append(port.send(7)))
    thread.start()
    task.cancel()
    await asyncio.wait([task])
    thread.join()
    assert received == ([7] if sent[0] else [])
    return sent[0]


def test_an_answer_that_races_with_a_cancellation_is_never_lost() -> None:
    async def races() -> None:
        for _ in range(200):
            await _race()

    asyncio.run(races())


def test_an_answer_between_cancelling_the_task_and_its_waking_is_handed_over() -> None:
    async def scenario() -> None:
        port: ReplyPort[int] = ReplyPort()
        received: list[int | None] = []

        async def ask() -> None:
            try:
                await asyncio.wrap_future(port.future)
            except asyncio.CancelledError:
                received.append(port.withdraw())
                raise

        task = asyncio.create_task(ask())
        await asyncio.sleep(0)
        task.cancel()
        assert port.send(7)
        await asyncio.wait([task])
        assert received == [7]

    asyncio.run(scenario())
