"""One event loop on a thread of its own, for asynchronous clients under synchronous backends."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future

__all__ = ["LoopThread"]

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines for threads that can't; cancelling a future cancels its coroutine."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def start(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine on the loop; any thread may call this until :meth:`close`."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancel what still runs, wait for it to end, stop the thread. Idempotent."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(_cancel_all())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
