"""An actor that reports its own death, and the outlet that leads to it."""

from __future__ import annotations

import abc
import logging
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pykka

from s2s_actors.runtime.hosting import current_host
from s2s_actors.runtime.mailbox import TwoLaneMailbox
from s2s_actors.runtime.supervision import Crashed

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.runtime.dispatcher import Dispatcher
    from s2s_actors.runtime.outlet import Outlet

logger = logging.getLogger(__name__)


class ActorOutlet:
    """An outlet that leads into an actor's mailbox.

    Promises: no method blocks, whatever the actor is doing. A message to a stopped actor is
    dropped and counted: the sender can do nothing about it, the supervisor knows.
    """

    __slots__ = ("_dropped", "_lock", "ref")

    def __init__(self, ref: pykka.ActorRef[Any]) -> None:
        self.ref = ref
        self._dropped = 0
        self._lock = threading.Lock()

    @property
    def dropped(self) -> int:
        """Messages that came after the actor had stopped."""
        return self._dropped

    def put(self, message: object) -> None:
        """Pass a message on.

        Raises:
            LaneFullError: The message is data and the actor's data lane is full.
        """
        try:
            self.ref.tell(message)
        except pykka.ActorDeadError:
            with self._lock:
                self._dropped += 1

    def stop(self) -> None:
        """See :func:`stop_actor`."""
        stop_actor(self.ref)

    def abandon(self) -> None:
        """See :func:`abandon_actor`."""
        abandon_actor(self.ref)


def stop_actor(ref: pykka.ActorRef[Any]) -> None:
    """Ask an actor to stop, ahead of the data that waits for it, and don't wait. Idempotent."""
    ref.stop(block=False)


def abandon_actor(ref: pykka.ActorRef[Any]) -> None:
    """Give an actor up that may never come back from what it is doing. Idempotent.

    From now on it takes no messages and counts as stopped; its thread ends after the current
    message, if that ever ends. It reports no crash any more.
    """
    # The stop message first: it wakes an actor that waits for a message, and is not taken
    # any more once the flag is up.
    ref.stop(block=False)
    ref.actor_stopped.set()
    pykka.ActorRegistry.unregister(ref)


def join_actors(patience_s: float) -> list[str]:
    """Wait until the threads of actors that were stopped or abandoned have ended.

    Returns:
        Names of those that are still busy when the patience is at its end.
    """
    deadline_s = time.monotonic() + patience_s
    # Anew each time: an actor that is on its way down, or still coming up, may start others.
    while threads := [t for t in threading.enumerate() if isinstance(t, _ActorThread)]:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            break
        if threads[0].ident is None:
            time.sleep(0.001)  # being started just now: it can't be joined yet
        else:
            threads[0].join(left_s)
    return sorted(thread.name for thread in threads)


class _ActorThread(threading.Thread):
    """Where an actor runs, or several."""


def start_actor_thread(name: str, run: Callable[[], None]) -> None:
    """Start a thread that :func:`join_actors` waits for.

    Raises:
        RuntimeError: No thread to be had.
    """
    _ActorThread(target=run, name=name, daemon=True).start()


class Actor(pykka.ThreadingActor):
    """An actor with a two-lane mailbox whose failures reach its supervisor.

    Promises: whatever :meth:`handle` or :meth:`started` let out becomes one
    :class:`~s2s_actors.runtime.supervision.Crashed` for the supervisor, sent when the actor
    has already stopped. Subclasses implement :meth:`handle`; they are started with pykka's
    ``start`` and take part in a test that steps them by hand without being started.

    Args:
        name: Name in reports, and of the thread.
        supervisor: Takes ``Crashed``; None where nobody cares.
        dispatcher: Whose thread serves the actor together with others; None for a thread of its
            own, which is allowed to be busy for long.
    """

    actor_inbox: TwoLaneMailbox

    limit_messages: ClassVar[int] = 1024
    """Data messages that may wait; a class attribute for subclasses to change."""

    limit_bytes: ClassVar[int] = 8 * 1024 * 1024
    """Bytes of data that may wait."""

    def __init__(
        self,
        name: str,
        supervisor: Outlet | None = None,
        dispatcher: Dispatcher | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._supervisor = supervisor
        self._dispatcher = dispatcher
        self._has_begun = False
        self._outlet = ActorOutlet(self.actor_ref)

    @property
    def outlet(self) -> ActorOutlet:
        """The way into this actor's mailbox."""
        return self._outlet

    @abc.abstractmethod
    def handle(self, message: Any) -> None:
        """Take the next message, in the actor's own thread."""

    def started(self) -> None:
        """Do what has to be done in the actor's own thread before its first message."""

    def stopped(self) -> None:
        """Clean up at an orderly stop; not called after a crash."""

    def crashed(self) -> None:
        """Let go, after a crash, of what would go on without this actor. Trust no state."""

    def on_start(self) -> None:
        """Run :meth:`started` under supervision."""
        self.supervised(self.started)

    def on_receive(self, message: Any) -> None:
        """Run :meth:`handle` under supervision."""
        self.supervised(self.handle, message)

    def supervised(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do something for this actor whose failure is the actor's own."""
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001
            # BaseException too: pykka would stop every actor of the process because one
            # library calls sys.exit().
            self._crash(error)

    def on_stop(self) -> None:
        """Run :meth:`stopped`; nothing depends on it, so a failure is only logged."""
        try:
            self.stopped()
        except Exception:
            logger.exception("%s failed to clean up", self.name)

    def _crash(self, error: BaseException) -> None:
        if self.actor_stopped.is_set():
            logger.warning("%s was abandoned and then failed", self.name, exc_info=error)
            return
        self.actor_stopped.set()
        pykka.ActorRegistry.unregister(self.actor_ref)
        logger.error("%s failed", self.name, exc_info=error)
        try:
            self.crashed()
        except Exception:
            # The supervisor must hear of the crash in any case.
            logger.exception("%s failed to let go", self.name)
        if self._supervisor is not None:
            self._supervisor.put(Crashed(self.name, self.actor_urn, error))

    # --- served by a dispatcher -----------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether it has stopped."""
        return self.actor_stopped.is_set()

    @property
    def waiting(self) -> int:
        """How many messages there are to handle."""
        return len(self.actor_inbox)

    def serve(self) -> None:
        """Begin, or handle the next message, in the dispatcher's thread."""
        if not self._has_begun:
            self._has_begun = True
            self._actor_loop_setup()
        elif not self.is_over and not self.actor_inbox.empty():
            # It is empty for what was announced, and then handled because something pressed.
            envelope = self.actor_inbox.get()
            answer = self._handle_receive(envelope.message)
            if envelope.reply_to is not None:
                envelope.reply_to.set(answer)
        if self.is_over:
            self._actor_loop_teardown()

    def give_up(self, error: BaseException) -> None:
        """Stop, and report why, unless it has stopped; comes from any thread."""
        if not self.is_over:
            self._crash(error)

    @classmethod
    def _create_actor_inbox(cls) -> TwoLaneMailbox:
        return TwoLaneMailbox(cls.limit_messages, cls.limit_bytes)

    def _start_actor_loop(self) -> None:
        host = current_host()
        try:
            if host is not None:
                host.take_in(self)
            elif self._dispatcher is None:
                start_actor_thread(self.name, self._actor_loop)
            else:
                self.actor_inbox.announce_to(partial(self._dispatcher.announce, self))
                self._dispatcher.enlist(self)
        except RuntimeError:  # no thread to be had, or no room
            self.actor_stopped.set()
            pykka.ActorRegistry.unregister(self.actor_ref)
            raise
