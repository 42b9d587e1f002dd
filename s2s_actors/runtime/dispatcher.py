"""One thread that serves many actors, for work that is short and frequent."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, Protocol

from s2s_actors.runtime.step_watch import StepWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Dispatched", "Dispatcher", "RoundWork", "StuckError"]

logger = logging.getLogger(__name__)

BURST_MESSAGES: Final = 64
"""After so many messages at a stretch there is a round of the work that they have left."""
LONGEST_STEP_S: Final = 5.0
"""Nothing that is served here may take so long: as long as a unit may take to drain."""
LONGEST_ABANDONED_STEP_S: Final = 1.0
"""And not even so long if somebody has given one of the actors up already."""


class StuckError(Exception):
    """An actor did not come back from a step, and was given up."""


class Dispatched(Protocol):
    """What a dispatcher knows of an actor."""

    @property
    def is_over(self) -> bool:
        """Whether it has stopped."""
        ...

    @property
    def waiting(self) -> int:
        """How many messages there are to handle."""
        ...

    def serve(self) -> None:
        """Handle the next message, if there is one. Never raises."""
        ...

    def give_up(self, error: BaseException) -> None:
        """Stop, and report why, unless it has stopped. Never raises."""
        ...


class RoundWork(Protocol):
    """Work that messages to several actors have left, to be done for all of them at once.

    Only the thread that serves the actors comes here.
    """

    @property
    def is_due(self) -> bool:
        """Whether there is any."""
        ...

    def take(self) -> Sequence[Dispatched]:
        """Take the next round of it; whom it is for."""
        ...

    def run(self, is_wanted: Callable[[], bool]) -> None:
        """Do what was taken; what this raises has befallen all whom it was for.

        Args:
            is_wanted: Whether the result counts: not if the thread was given up meanwhile.
        """
        ...


class Dispatcher:
    """Serves the mailboxes of its actors in the order in which messages come, or are pressing.

    With a thread for each actor a message costs a context switch. Where actors have little to
    do, but often, one thread takes what has come in for all of them, and is woken only if it
    had nothing to do.

    Promises: an actor is served by one thread at a time, message by message; a round of common
    work comes as soon as no message waits, and after a burst of them in any case; the thread
    lives as long as there are actors. A thread that is stuck in a step is noticed if a message
    waits for it, whether another one comes or not: the actors in its hands are given up, and
    another thread goes on with the others.

    Args:
        name: Of the thread.
        round_work: What is done in rounds.
        start_thread: Starts a thread of that name; raises ``RuntimeError`` if there is none to
            be had.
        longest_step_s: What a step may take.
        longest_abandoned_step_s: What it may take if somebody has given up an actor that is in it.
    """

    def __init__(
        self,
        name: str,
        start_thread: Callable[[str, Callable[[], None]], None],
        round_work: RoundWork | None = None,
        *,
        longest_step_s: float = LONGEST_STEP_S,
        longest_abandoned_step_s: float = LONGEST_ABANDONED_STEP_S,
    ) -> None:
        self._name = name
        self._start_thread = start_thread
        self._round_work = round_work
        self._longest_step_s = longest_step_s
        self._longest_abandoned_step_s = longest_abandoned_step_s
        self._shortest_s = min(longest_step_s, longest_abandoned_step_s)
        self._watch = StepWatch(
            f"{name}-watch",
            lambda: self._since_s,
            self._look_after,
            (longest_step_s, longest_abandoned_step_s),
        )
        self._ready: SimpleQueue[Dispatched] = SimpleQueue()
        self._pressed: deque[Dispatched] = deque()
        self._lock = threading.Lock()
        self._actors: set[Dispatched] = set()
        # Which of the threads counts; a thread that was given up finds that it is not its own.
        self._shift: object | None = None
        self._in_hand: Sequence[Dispatched] = ()
        self._since_s: float | None = None

    def enlist(self, actor: Dispatched) -> None:
        """Serve an actor from now on; this announces its beginning.

        Raises:
            RuntimeError: No thread to be had; nothing has changed.
        """
        with self._lock:
            if self._shift is None:
                self._begin_shift()
            self._actors.add(actor)
        self.announce(actor)

    def announce(self, actor: Dispatched, pressing: bool = False) -> None:  # noqa: FBT001, FBT002
        """There is one more message for an actor. Never blocks.

        Args:
            actor: Whose.
            pressing: Whether all that this actor has is to be handled before that of others.
        """
        if pressing:
            self._pressed.append(actor)
        self._ready.put(actor)
        since_s = self._since_s
        if since_s is None:
            return
        if time.monotonic() - since_s > self._shortest_s:
            self._look_after(since_s)
        self._watch.begin()

    # --- the thread -----------------------------------------------------------------------

    def _begin_shift(self) -> None:
        before, self._shift = self._shift, object()
        try:
            self._start_thread(self._name, functools.partial(self._serve, self._shift))
        except RuntimeError:
            self._shift = before
            raise

    def _serve(self, shift: object) -> None:
        while self._serve_burst(shift) and self._run_round(shift):
            pass

    @property
    def _round_is_due(self) -> bool:
        return self._round_work is not None and self._round_work.is_due

    def _serve_burst(self, shift: object) -> bool:
        """Serve messages as they come; return whether this thread is to go on."""
        for _ in range(BURST_MESSAGES):
            if self._round_is_due and self._ready.empty():
                return True
            actor = self._ready.get()
            if self._pressed:
                # Back with it: should what presses hang, another thread has to find it.
                self._ready.put(actor)
                going_on = self._serve_pressed(shift)
            else:
                going_on = self._serve_one(actor, shift)
            if not going_on:
                return False
        return True

    def _serve_pressed(self, shift: object) -> bool:
        """Catch up with actors that something presses for; return whether to go on."""
        while self._pressed:
            actor = self._pressed.popleft()
            for _ in range(actor.waiting + 1):  # it may have to begin first
                if not self._serve_one(actor, shift):
                    return False
        return True

    def _serve_one(self, actor: Dispatched, shift: object) -> bool:
        self._take_in_hand((actor,))
        actor.serve()
        return self._let_go(shift)

    def _run_round(self, shift: object) -> bool:
        """Do what is due; return whether this thread is to go on."""
        if self._round_work is None or not self._round_work.is_due:
            return True
        self._take_in_hand(self._round_work.take())
        try:
            self._round_work.run(lambda: self._shift is shift)
        except Exception as error:  # noqa: BLE001 - supervision: each of them hears of it
            for actor in self._in_hand if self._shift is shift else ():
                actor.give_up(error)
        return self._let_go(shift)

    def _take_in_hand(self, actors: Sequence[Dispatched]) -> None:
        self._in_hand = actors
        self._since_s = time.monotonic()
        # What came before that found nothing to watch.
        if not self._ready.empty():
            self._watch.begin()

    def _let_go(self, shift: object) -> bool:
        """After a step; return whether this thread is to go on."""
        with self._lock:
            if self._shift is not shift:
                return False
            self._since_s = None
            over = [actor for actor in self._in_hand if actor.is_over]
            self._in_hand = ()
            self._actors.difference_update(over)
            if not self._actors:
                self._shift = None
                self._watch.end()
            return self._shift is shift

    # --- a thread that does not come back ---------------------------------------------------

    def _look_after(self, since_s: float) -> None:
        """Give up a thread that is stuck in the step that began then."""
        with self._lock:
            in_hand = self._in_hand
            abandoned = any(actor.is_over for actor in in_hand)
            limit_s = self._longest_abandoned_step_s if abandoned else self._longest_step_s
            if self._since_s != since_s or time.monotonic() - since_s <= limit_s:
                return
            if not self._go_on_without(in_hand):
                return
            self._since_s, self._in_hand = None, ()
        logger.error("%s was stuck; another thread goes on", self._name)
        for actor in in_hand:
            actor.give_up(StuckError(f"stuck for {time.monotonic() - since_s:.1f} s"))

    def _go_on_without(self, stuck: Sequence[Dispatched]) -> bool:
        """Have another thread serve the other actors, if there are any."""
        if self._actors.issubset(stuck):
            self._shift = None
        else:
            try:
                self._begin_shift()
            except RuntimeError:
                logger.exception("%s is stuck, and there is no thread to go on with", self._name)
                return False
        self._actors.difference_update(stuck)
        return True
