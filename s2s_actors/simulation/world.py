"""A whole server in one thread, on a clock of its own: the same seed gives the same run."""

from __future__ import annotations

import random
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from s2s_actors.actors.conversation import ConversationRules
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import SessionWish
from s2s_actors.actors.stage import ModelStage
from s2s_actors.protocol.ids import ids_from, new_id
from s2s_actors.runtime.actor import Actor
from s2s_actors.simulation.caller import Caller, CallerSetup
from s2s_actors.simulation.calls import PausedCall, VirtualCalls
from s2s_actors.simulation.faults import NO_FAULTS, Faults, Mishaps
from s2s_actors.simulation.models import Agent, Question
from s2s_actors.simulation.plant import STAGES, SteppedPlant
from s2s_actors.simulation.speech import SpokenWords

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from s2s_actors.backends.base import Models
    from s2s_actors.runtime.clock import ManualClock
    from s2s_actors.simulation.reading import Event

    _Ready: TypeAlias = Actor | PausedCall | Caller

__all__ = ["Simulation"]

QUIET_S: Final = 10.0
"""Longer than any wait that belongs to a turn or to the end of a session; shorter than the
deadlines of those who say nothing."""
MOST_STEPS: Final = 1_000_000
TRACED: Final = 60
SETTLING_S: Final = 60.0
"""More than all deadlines on the way to an idle unit together, and what was frozen with them."""
SESSION_S: Final = 3600.0


class Simulation:
    """A server that is all there but for sockets, models and time.

    Pool, units and stages are the real ones; models are scripted. Which of those that have
    something to do is next is drawn from the seed, and so is what goes wrong. Nothing waits:
    when nobody has anything to do, the clock goes on to what comes next.

    Use it as a context manager. On exit all callers hang up, and it checks what always has to
    hold: every unit comes back to idle, none is lost, and no actor is left.

    Promises: the same seed and the same calls give the same events in the same order, ids
    included, in any process. An exception that leaves the block tells the seed and the last
    steps.

    Attributes:
        clock: The time.
        callers: Everyone who has called.
        asked: What the language model was asked.
        steps: How many steps there were.
        plant: The actors, for who wants to look closer.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        units: int = 1,
        agent: Agent | None = None,
        faults: Faults = NO_FAULTS,
        rules: PoolRules | None = None,
    ) -> None:
        """Prepare it.

        Args:
            seed: Of everything that is left to chance.
            units: How many callers are served at a time.
            agent: What the server says; by default it echoes.
            faults: What goes wrong; by default nothing.
            rules: Of the pool, in place of ``units``: who waits, and for how long.
        """
        rules = rules or PoolRules(units)
        self._how = f"Simulation(seed={seed}, units={rules.units}, faults={faults})"
        self._units = rules.units
        self._schedule = random.Random(f"{seed} schedule")  # noqa: S311 - chance, no secret
        self._ids = random.Random(f"{seed} ids")  # noqa: S311 - ids of a simulation
        self._trace: deque[tuple[float, str]] = deque(maxlen=TRACED)
        self._spoken = SpokenWords()
        self.asked: list[Question] = []
        self.callers: list[Caller] = []
        self.steps = 0
        agent = agent or Agent()
        self.plant = SteppedPlant(
            rules,
            models=partial(self._models, agent),
            conversation=ConversationRules(
                "simulated",
                agent.instructions,
                SESSION_S,
                context_tokens=agent.context_tokens,
                conduct=agent.conduct,
            ),
        )
        self.clock = self.plant.clock
        chance = random.Random(f"{seed} faults")  # noqa: S311 - chance, no secret
        self._mishaps = Mishaps(faults, chance, self.plant, self.callers, self._note)
        self._moved_s = 0.0
        self._is_open = False

    def _models(self, agent: Agent, clock: ManualClock) -> Models:
        self._calls = VirtualCalls(clock)
        return agent.models(self._calls, self._spoken, self.asked)

    def __enter__(self) -> Self:
        if not self._is_open:
            self._is_open = True
            self.plant.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(failure)

    def close(self, failure: BaseException | None = None) -> None:
        """End it, and check what always has to hold, unless something has failed already.

        Idempotent.

        Raises:
            AssertionError: It does not hold.
        """
        if not self._is_open:
            return
        self._is_open = False
        try:
            if failure is None:
                self._end()
        except BaseException as error:
            failure = error
            raise
        finally:
            if failure is not None:
                failure.add_note(self.report)
            self._calls.close()
            self.plant.__exit__(failure)

    # --- for tests ------------------------------------------------------------------------

    def call(
        self,
        *,
        session: Mapping[str, Any] | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        on_event: Callable[[Caller, Event], None] | None = None,
        wish: SessionWish | None = None,
    ) -> Caller:
        """Let someone call; they get a unit, or wait for one, or none, once it runs.

        Args:
            session: Settings that they send first, as in ``session.update``.
            tools: What they call when the model asks for it, by name.
            on_event: Client logic: is shown each event, and may answer by
                :meth:`Caller.send_event` and the like.
            wish: What they ask for in the address.
        """
        name = f"caller-{len(self.callers) + 1}"
        with ids_from(self._next_id):
            session_id = new_id("sess")
        setup = CallerSetup(name, session_id, wish or SessionWish(), session, tools or {}, on_event)
        caller = Caller(setup, self.plant.pool.outlet, self.clock, self._spoken)
        self.callers.append(caller)
        return caller

    def run(self, for_s: float | None = None) -> None:
        """Let everyone do what they have to do, and time pass.

        Args:
            for_s: For so long; None until nothing has happened for 10 s. Deadlines that are
                farther away don't come then.
        """
        until_s = None if for_s is None else self.now_s + for_s
        while True:
            self._settle()
            next_s = self.clock.next_s
            if next_s is None or next_s > (self._quiet_s if until_s is None else until_s):
                break
            self.clock.advance_to_next()
        if until_s is not None:
            self.clock.advance(max(0.0, until_s - self.now_s))

    def run_steps(self, count: int) -> None:
        """Take so many steps at most, and let no time pass: to stop in the middle of things."""
        with ids_from(self._next_id):
            for _ in range(count):
                if not self._step():
                    return

    @property
    def now_s(self) -> float:
        """How much time has passed since it began."""
        return self.clock.monotonic_s()

    @property
    def trace(self) -> tuple[str, ...]:
        """The last steps."""
        return tuple(f"{at_s:.3f} {what}" for at_s, what in self._trace)

    @property
    def report(self) -> str:
        """How to have the same again, and what happened last."""
        steps = "\n  ".join(self.trace)
        return f"The same again: {self._how}\nIts last steps, of {self.steps}:\n  {steps}"

    # --- one step after the other -----------------------------------------------------------

    def _next_id(self) -> str:
        return f"{self._ids.getrandbits(96):024x}"

    def _note(self, what: str) -> None:
        self._trace.append((self.now_s, what))

    @property
    def _quiet_s(self) -> float:
        """When nothing will have happened for long, if nothing happens; a wait is something."""
        waits_s = max(self._calls.until_s, self._mishaps.until_s)
        return max(self._moved_s, waits_s) + QUIET_S

    def _settle(self) -> None:
        with ids_from(self._next_id):
            while self._step():
                assert self.steps < MOST_STEPS, "it never comes to rest"

    def _step(self) -> bool:
        ready: list[_Ready] = [
            *(actor for actor in self.plant.ready if actor not in self._mishaps.frozen),
            *self._calls.due,
            *[caller for caller in self.callers if caller.is_ready],
        ]
        if not ready:
            return False
        self.steps += 1
        self._moved_s = self.now_s
        self._do(ready[self._schedule.randrange(len(ready))])
        self._mishaps.happen()
        return True

    def _do(self, who: _Ready) -> None:
        match who:
            case Caller():
                self._note(who.name)
                who.step()
            case PausedCall():
                self._note(f"{who.label} goes on")
                self._calls.resume(who)
            case Actor():
                self._step_actor(who)

    def _step_actor(self, actor: Actor) -> None:
        inbox = actor.actor_inbox
        what = "begins" if inbox.empty() else type(inbox.next_message).__name__
        self._note(f"{actor.name}: {what}")
        self._mishaps.before(actor)
        if isinstance(actor, ModelStage):
            work = partial(self._step_model, actor)
            self._calls.begin(actor.name, work, self._mishaps.burden())
        else:
            self.plant.step(actor)

    def _step_model(self, actor: ModelStage) -> None:
        # On a stack of its own, which knows nothing of where the ids come from.
        with ids_from(self._next_id):
            self.plant.step(actor)

    # --- the end ----------------------------------------------------------------------------

    def _end(self) -> None:
        """Let everyone hang up, and see that everything comes back."""
        self._mishaps.forget()
        for caller in self.callers:
            caller.hang_up()
        self.run(SETTLING_S)
        states = [unit.state for unit in self.plant.board.units()]
        assert states == ["idle"] * self._units, f"not every unit came back: {states}"
        assert self.plant.capacity == self._units, "a unit is lost"
        assert self.plant.leases == (), "a unit is still held"
        names = sorted(actor.name for actor in self.plant.live)
        wanted = ["pool", *(f"{each}-{n}" for n in range(self._units) for each in _UNIT)]
        assert names == sorted(wanted), f"the actors are {names}"
        assert self.clock.pending == [], f"still due: {self.clock.pending}"


_UNIT: Final = ("unit", *STAGES)
