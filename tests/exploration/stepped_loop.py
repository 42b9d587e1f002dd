"""An event loop of asyncio that does nothing until it is told to: one callback at a time."""

from __future__ import annotations

import asyncio
from asyncio import events
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from typing import TypeVarTuple, Unpack

    from s2s_actors.runtime.clock import ManualClock, Timer

    Ts = TypeVarTuple("Ts")

__all__ = ["Due", "FakeServer", "Future", "SteppedLoop", "Task"]


class Future(asyncio.Future[Any]):
    """A future that is told apart by a number: sets of them have the same order in every run."""

    def __init__(self, loop: SteppedLoop) -> None:
        self.serial = loop.next_serial()
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.serial


class Task(asyncio.Task[Any]):
    """A task that is told apart by a number."""

    def __init__(self, work: Any, loop: SteppedLoop, context: Context | None) -> None:
        self.serial = loop.next_serial()
        self.work: str = work.__qualname__
        super().__init__(work, loop=loop, context=context)

    def __hash__(self) -> int:
        return self.serial


class Due:
    """The message of a timer: its callback is due."""

    def __init__(self, handle: asyncio.TimerHandle) -> None:
        self.handle = handle

    @property
    def name(self) -> str:
        """What is due."""
        return name_of(self.handle)


class FakeServer(asyncio.AbstractServer):
    """What listens, without a socket."""

    sockets = ()

    def __init__(self, loop: SteppedLoop) -> None:
        self._loop = loop
        self.open = True

    def close(self) -> None:
        """Take no more connections."""
        self.open = False

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Where it listens."""
        return self._loop

    def is_serving(self) -> bool:
        """Whether it takes connections."""
        return self.open

    async def wait_closed(self) -> None:
        """Nothing to wait for: as in the version of Python that is served with."""


class SteppedLoop(asyncio.AbstractEventLoop):
    """Runs callbacks in their order, each when :meth:`step` is called; time is a manual clock's.

    Promises: nothing runs by itself; nothing waits for anything real. What asyncio's own loops
    promise about order holds here: callbacks run in the order in which they were scheduled, and
    what comes from the network or from another thread comes behind those.

    Attributes:
        ready: Callbacks to run.
        tasks: All that are not done, oldest first.
        listeners: What was asked to listen: who makes a protocol for each connection.
        faults: What the loop was told of as an error that nobody took.
        version: Changes with every step, and with all that is scheduled.
    """

    def __init__(self, clock: ManualClock) -> None:
        self.ready: deque[asyncio.Handle] = deque()
        self.listeners: list[tuple[Callable[[], asyncio.BaseProtocol], FakeServer]] = []
        self.faults: list[str] = []
        self.version = 0
        self._clock = clock
        self._timers: dict[asyncio.TimerHandle, Timer] = {}
        self._tasks: list[Task] = []
        self._signals: dict[int, Callable[..., object]] = {}
        self._serial = 0

    # --- what whoever steps it uses -------------------------------------------------------

    @property
    def tasks(self) -> list[Task]:
        """All that are not done, oldest first."""
        self._tasks = [task for task in self._tasks if not task.done()]
        return list(self._tasks)

    @property
    def is_ready(self) -> bool:
        """Whether there is a callback to run."""
        while self.ready and self.ready[0].cancelled():
            self.ready.popleft()
        return bool(self.ready)

    def step(self) -> str:
        """Run the next callback.

        Returns:
            What it was.
        """
        assert self.is_ready
        handle = self.ready.popleft()
        name = name_of(handle)
        self.version += 1
        with self.entered():
            handle._run()
        return name

    def run(self) -> None:
        """Run until there is nothing to run any more."""
        while self.is_ready:
            self.step()

    def entered(self) -> _Running:
        """Within it this is the running loop."""
        return _Running(self)

    def signal(self, number: int) -> None:
        """Let the process get a signal."""
        if number in self._signals:
            self.call_soon(self._signals[number])

    def put(self, message: object) -> None:
        """Take the message of a timer; comes from the clock."""
        assert isinstance(message, Due)
        del self._timers[message.handle]
        self._add(message.handle)

    # --- what asyncio uses ---------------------------------------------------------------

    def call_soon(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Run it after all that is scheduled already."""
        handle = asyncio.Handle(callback, args, self, context)
        self._add(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Run it after all that is scheduled already; actors call this."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it when so many seconds have passed."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it at a time of the clock."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        handle._scheduled = True  # type: ignore[attr-defined]
        self._timers[handle] = self._clock.tell_later(when - self.time(), self, Due(handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if (timer := self._timers.pop(handle, None)) is not None:
            timer.cancel()

    def time(self) -> float:
        """The clock's."""
        return self._clock.monotonic_s()

    def create_future(self) -> Future:
        """A future with a number."""
        return Future(self)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: Context | None = None
    ) -> Task:
        """A task with a number."""
        del name
        task = Task(coro, self, context)
        self._tasks.append(task)
        return task

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.BaseProtocol], *_where: object, **_how: object
    ) -> FakeServer:
        """Listen nowhere: whoever steps the loop connects."""
        server = FakeServer(self)  # type: ignore[abstract]
        self.listeners.append((protocol_factory, server))
        return server

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: object) -> None:
        """Remember what :meth:`signal` does."""
        assert not args
        self._signals[sig] = callback

    def remove_signal_handler(self, sig: int) -> bool:
        """Forget it."""
        return self._signals.pop(sig, None) is not None

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Remember what went wrong where nobody takes it."""
        error = context.get("exception")
        self.faults.append(f"{context['message']} ({type(error).__name__}: {error})")

    def get_debug(self) -> bool:
        """No debugging."""
        return False

    def is_running(self) -> bool:
        """Always: it may be stepped at any time."""
        return True

    def is_closed(self) -> bool:
        """Never."""
        return False

    def _add(self, handle: asyncio.Handle) -> None:
        self.version += 1
        self.ready.append(handle)

    def next_serial(self) -> int:
        """A number for something new."""
        self._serial += 1
        return self._serial


class _Running:
    def __init__(self, loop: SteppedLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        events._set_running_loop(self._loop)

    def __exit__(self, *_failure: object) -> None:
        events._set_running_loop(None)


def name_of(handle: asyncio.Handle) -> str:
    """What a callback is, for the reader of a trace."""
    callback = handle._callback  # type: ignore[attr-defined]
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        work: Any = owner.get_coro()
        while hasattr(inner := work.cr_await, "cr_await"):
            work = inner
        return str(work.__qualname__)
    return str(getattr(callback, "__qualname__", type(callback).__name__))
