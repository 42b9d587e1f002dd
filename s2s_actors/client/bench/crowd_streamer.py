"""The streamer of a crowd: a process of its own, in which all its sessions live.

It shares no interpreter lock with what measures beside it, and does as little as it can: frames
are made beforehand, one clock drives all streams, and of what comes back only the type is read.
It takes a :class:`~s2s_actors.client.bench.crowd_plan.Plan` as a line of JSON on standard input
and writes reports as lines of JSON on standard output.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Final

import msgspec

from s2s_actors.client.bench.crowd_frames import hiss_frames, speech_of
from s2s_actors.client.bench.crowd_plan import (
    DONE,
    SETTLE_S,
    STARTED,
    STOPPED,
    TRANSCRIBED,
    Outcome,
    Plan,
    SessionLog,
    Steady,
    Stopping,
)
from s2s_actors.client.bench.crowd_wheel import Stream, Wheel
from s2s_actors.client.bench.figures import figure_of
from s2s_actors.client.bench.precedence import precedence
from s2s_actors.client.bench.session import configured
from s2s_actors.client.record import Closed, parse_event
from s2s_actors.errors import S2SError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.client.bench.crowd_plan import Report
    from s2s_actors.client.connection import Connection

__all__ = ["stream"]

_KEPT: Final = frozenset({STARTED, STOPPED, TRANSCRIBED, DONE})
_OPENING_AT_ONCE: Final = 8
_TAIL_S: Final = 5.0
"""Longest wait for what has been said to be answered."""


class _Head(msgspec.Struct):
    """What is read of an event; the rest, audio above all, is passed over."""

    type: str


async def stream(plan: Plan, tell: Callable[[Report], None]) -> None:
    """Do what the plan says; the last report is the outcome."""
    crowd = _Crowd(plan)
    try:
        await crowd.open()
        await crowd.stream(tell)
    finally:
        await crowd.leave()


class _Crowd:
    """All sessions of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._answered = asyncio.Event()
        self._seats = [_Seat(plan, self._note) for _ in range(plan.sessions)]
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Open the sessions, a few at a time; what fails is in its log."""
        gate = asyncio.Semaphore(_OPENING_AT_ONCE)
        self._tasks = [asyncio.create_task(seat.sit(gate)) for seat in self._seats]
        await asyncio.gather(*(seat.decided.wait() for seat in self._seats))

    async def stream(self, tell: Callable[[Report], None]) -> None:
        """Stream, measure, and wait for the last answers."""
        streams = self._streams()
        if not streams:
            tell(self._outcome(None, 0.0, 0.0))
            return
        wheel = Wheel(streams, self._plan.piece_ms)
        for seat in self._seats:
            seat.clock = lambda: wheel.now_s
        turning = asyncio.create_task(wheel.run())
        try:
            await asyncio.sleep(SETTLE_S)
            cpu_s, since_s = time.process_time(), wheel.now_s
            wheel.counts = True
            tell(Steady())
            await asyncio.sleep(self._plan.duration_s)
            wheel.counts = False
            cpu_s, seconds = time.process_time() - cpu_s, wheel.now_s - since_s
            tell(Stopping())
            await self._last_answers()
        finally:
            turning.cancel()
            await asyncio.gather(turning, return_exceptions=True)
        tell(self._outcome(wheel, seconds, cpu_s))

    async def leave(self) -> None:
        """Close all sessions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _streams(self) -> list[Stream]:
        plan = self._plan
        hiss = hiss_frames(plan.piece_ms)
        speeches = [speech_of(sound, plan.piece_ms) for sound in plan.clips]
        streams = []
        for number, seat in enumerate(self._seats):
            own = [each for each in plan.utterances if each.session == number]
            if seat.connection is not None:
                seat.stream = Stream(seat.connection.write, hiss, speeches, own)
                streams.append(seat.stream)
        return streams

    async def _last_answers(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TAIL_S):
                while not all(seat.is_answered for seat in self._seats):
                    self._answered.clear()
                    await self._answered.wait()

    def _note(self) -> None:
        self._answered.set()

    def _outcome(self, wheel: Wheel | None, seconds: float, cpu_s: float) -> Outcome:
        return Outcome(
            logs=[seat.finished() for seat in self._seats],
            late_ms=figure_of(wheel.late_ms) if wheel else None,
            seconds=seconds,
            cpu_s=cpu_s,
        )


class _Seat:
    """One session: opened, then only listened to.

    Attributes:
        connection: None while it is not open.
        stream: What it sends, once it sends.
        decided: Set once it is open or will never be.
        clock: Seconds since the streams began.
    """

    def __init__(self, plan: Plan, on_end: Callable[[], None]) -> None:
        self.connection: Connection | None = None
        self.stream: Stream | None = None
        self.decided = asyncio.Event()
        self.clock: Callable[[], float] = lambda: 0.0
        self._plan = plan
        self._log = SessionLog()
        self._on_end = on_end
        self._head = msgspec.json.Decoder(_Head)

    @property
    def is_answered(self) -> bool:
        """Whether the last thing that was said has been answered, or never will be."""
        said = self.stream.said if self.stream else []
        if not said or self._log.closed:
            return True
        end_s, answers = said[-1].end_s, self._times(DONE)
        return end_s is not None and bool(answers) and answers[-1] >= end_s

    async def sit(self, gate: asyncio.Semaphore) -> None:
        """Open the session and take what comes, until cancelled or closed."""
        plan = self._plan
        async with AsyncExitStack() as stack:
            try:
                async with gate:
                    self.connection = await stack.enter_async_context(
                        configured(plan.url, plan.settings, timeout_s=plan.timeout_s)
                    )
            except S2SError as error:
                self._log.problem = str(error)
                return
            finally:
                self.decided.set()
            await self._listen(self.connection)

    def finished(self) -> SessionLog:
        """What it saw."""
        self._log.said = self.stream.said if self.stream else []
        return self._log

    async def _listen(self, connection: Connection) -> None:
        try:
            while not isinstance(frame := await connection.receive_raw(), Closed):
                self._take(frame)
            self._log.closed = str(frame)
        except msgspec.MsgspecError:
            self._log.closed = "this is no Realtime server"
        self._on_end()

    def _take(self, frame: str | bytes) -> None:
        kind = self._head.decode(frame).type
        if kind in _KEPT:
            self._log.events.append((self.clock(), kind))
        if kind == DONE:
            self._on_end()
        if kind == "error":
            event = parse_event(frame, 0.0)
            words = (event.text("error", "code"), event.text("error", "message"))
            self._log.errors.append(": ".join(filter(None, words)))

    def _times(self, kind: str) -> Sequence[float]:
        return [at_s for at_s, each in self._log.events if each == kind]


def _main() -> None:
    plan = msgspec.json.decode(sys.stdin.buffer.readline(), type=Plan)
    output = sys.stdout.buffer

    def tell(report: Report) -> None:
        output.write(msgspec.json.encode(report) + b"\n")
        output.flush()

    with precedence():
        asyncio.run(stream(plan, tell))


if __name__ == "__main__":
    _main()
