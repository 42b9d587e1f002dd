"""A plant with clients, to which one named thing happens after the other."""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from s2s_actors.actors import messages as m
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.errors import StageError
from s2s_actors.protocol.ids import ids_from
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.simulation.plant import SteppedPlant
from tests.exploration.fingerprint import waiting_in
from tests.exploration.hanging import HangingCall
from tests.exploration.moves import Move
from tests.exploration.naming import name_of, place_of
from tests.exploration.scenarios import SAYINGS
from tests.exploration.stale import late_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import Kind
    from s2s_actors.runtime.actor import Actor
    from s2s_actors.simulation.client import Client
    from tests.exploration.scenarios import Scenario

TIMINGS = UnitTimings(claim_timeout_s=120, drain_timeout_s=5)
_MODELS: Final[dict[str, Kind]] = {"vad": "vad", "stt": "stt", "llm": "llm", "tts": "tts"}


class World:
    """One run of a scenario: knows what can happen next, and lets it happen.

    Promises: the same moves lead to the same place, in every process; nothing moves by itself.
    Use it as a context manager: on exit everything is taken down.

    Attributes:
        plant: The actors.
        clients: Who has come, by name.
        claimed: Who has asked for a unit.
        turns: How often each actor, by its address, has changed what it keeps.
        wedged: Addresses of actors that never handle anything more.
        hanging: A call that hangs just now.
        hung: Whether something hangs or has hung.
        time_passed: Whether a deadline came while others had something to do.
        forced: Whether the server was told to stop at once.
        stopping: Answered when the server has stopped; None if nobody asked for that.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        rules = PoolRules(scenario.units, queue_limit=1)
        self.plant = SteppedPlant(rules, timings=TIMINGS, serving=scenario.sessions is None)
        self.clients: dict[str, Client] = {}
        self.claimed: set[str] = set()
        self.hung = self.time_passed = self.forced = False
        self.stopping: ReplyPort[None] | None = None
        self.hanging: HangingCall | None = None
        self._done = 0
        self.wedged: set[str] = set()
        self.turns: Counter[str] = Counter()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        serial = itertools.count()
        quiet = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        self._stack.callback(logging.disable, quiet)
        self._stack.enter_context(ids_from(lambda: f"{next(serial):024x}"))
        self._stack.enter_context(self.plant)
        names = dict.fromkeys(name for name, _ in self.scenario.script)
        self.clients = self._clients(names)
        return self

    def __exit__(self, kind: object, error: object, where: object) -> None:
        if self.hanging is not None:
            self.hanging.go_on()
        self.plant.mischief.forget()
        self._stack.__exit__(kind, error, where)  # type: ignore[arg-type]

    def _clients(self, names: Iterable[str]) -> dict[str, Client]:
        return {name: self.plant.client(name) for name in names}

    # --- who is there ---------------------------------------------------------------------

    @property
    def ready(self) -> list[Actor]:
        """Who may take a step, in the order of the pipeline, one unit after the other."""
        ready = [each for each in self.plant.ready if each.actor_urn not in self.wedged]
        return sorted(ready, key=place_of)

    def live(self, name: str) -> Actor | None:
        """The live actor of that name."""
        return next((each for each in self.plant.live if each.name == name), None)

    def is_born(self, actor: Actor) -> bool:
        """Whether an actor is there, but has not begun."""
        return actor in self.plant._born

    @property
    def beside(self) -> list[object]:
        """What else there is, beside actors and clients, for a fingerprint."""
        return []

    @property
    def loop_version(self) -> object:
        """Another one whenever something may have changed on an event loop."""
        return None

    @property
    def unanswered(self) -> list[str]:
        """Who has asked for a unit and was told nothing."""
        return [name for name in self.claimed if not self.clients[name].reply.future.done()]

    def is_out(self, name: str) -> bool:
        """Whether a client does nothing more."""
        return self.clients[name].left

    def hears(self, name: str) -> bool:
        """Whether what a client is sent has come to it."""
        return not self.clients[name].left

    @property
    def over(self) -> list[Lease]:
        """Leases of sessions that are over."""
        held = self.plant.leases
        granted = [each.granted.lease for each in self.clients.values() if each.granted]
        return [lease for lease in granted if lease not in held]

    # --- what can happen --------------------------------------------------------------------

    @property
    def steps(self) -> list[Move]:
        """Which actors may handle their next message; the usual one first."""
        return [Move("step", actor.name) for actor in self.ready]

    @property
    def deed(self) -> Move | None:
        """What the clients do next, if anything is left for them to do."""
        script = self.scenario.script
        while self._done < len(script) and self.is_out(script[self._done][0]):
            self._done += 1
        return Move("act", *script[self._done]) if self._done < len(script) else None

    @property
    def may_hasten(self) -> bool:
        """Whether the next deed makes sense while others are busy."""
        deed = self.deed
        return deed is not None and (
            deed.what == "claim"
            or (deed.what == "leave" and deed.who in self.claimed)
            or self.clients[deed.who].granted is not None
        )

    # --- letting it happen --------------------------------------------------------------------

    def play(self, move: Move) -> str:
        """Let something happen.

        Returns:
            What it was about, for the reader of a trace.

        Raises:
            ValueError: It can't happen here.
        """
        how: Callable[[Move], str] | None = getattr(self, f"_{move.kind}", None)
        if how is None:
            raise ValueError(f"no such move: {move}")
        return how(move)

    def _actor(self, name: str) -> Actor:
        found = self.live(name)
        if found is None:
            raise ValueError(f"there is no {name}")
        return found

    def _step(self, move: Move) -> str:
        actor = self._actor(move.who)
        if actor not in self.ready:
            raise ValueError(f"{move.who} has nothing to do, or hangs")
        note = "begins" if self.is_born(actor) else name_of(waiting_in(actor)[0])
        self.turns[actor.actor_urn] += 1
        self.plant.step(actor)
        return note

    def _act(self, move: Move) -> str:
        if move != self.deed:
            raise ValueError(f"{move} does not come next")
        self._done += 1
        client = self.clients[move.who]
        if move.what == "claim":
            self.claimed.add(move.who)
            client.claim()
        elif move.what == "leave":
            client.leave()
        else:
            client.say(*SAYINGS[move.what])
        return ""

    def _leave(self, move: Move) -> str:
        self.clients[move.who].leave()
        return "gone, in the middle of it"

    def _vanish(self, move: Move) -> str:
        client = self.clients[move.who]
        if client.reply.withdraw() is None:
            client.left = True
        return "gone, without a word to the pool"

    def _crash(self, move: Move) -> str:
        actor = self._actor(move.who)
        note = name_of(waiting_in(actor)[0])
        self.plant.crash(move.who)
        return f"instead of {note}"

    def _wedge(self, move: Move) -> str:
        actor = self._actor(move.who)
        self.wedged.add(actor.actor_urn)
        self.hung = True
        return f"before {name_of(waiting_in(actor)[0])}"

    def _hang(self, move: Move) -> str:
        actor = self._actor(move.who)
        note = name_of(waiting_in(actor)[0])
        self.hung = True
        self.turns[actor.actor_urn] += 1
        self.hanging = HangingCall(self.plant, actor, _MODELS[move.who.partition("-")[0]])
        if self.hanging.is_over:
            raise ValueError(f"{move.who} did not come to call its model")
        return f"in {note}"

    def _return(self, move: Move) -> str:
        if self.hanging is None or self.hanging.actor.name != move.who:
            raise ValueError(f"{move.who} does not hang")
        self.turns[self.hanging.actor.actor_urn] += 1
        self.hanging.go_on()
        self.hanging = None
        return ""

    def _fail(self, move: Move) -> str:
        return self._go_wrong(move, StageError("planned", "It failed."))

    def _burst(self, move: Move) -> str:
        return self._go_wrong(move, RuntimeError("a bug"))

    def _go_wrong(self, move: Move, error: Exception) -> str:
        def happen() -> None:
            raise error

        self.plant.mischief.plan(_MODELS[move.who.partition("-")[0]], happen)
        try:
            return self._step(move)
        finally:
            self.plant.mischief.forget()

    def _double(self, move: Move) -> str:
        actor = self._actor(move.who)
        message = waiting_in(actor)[0]
        actor.outlet.put(message)
        return name_of(message)

    def _late(self, move: Move) -> str:
        lease = next(lease for lease in self.over if (move.who, move.what) in late_messages(lease))
        self._actor(move.who).outlet.put(late_messages(lease)[move.who, move.what])
        return f"of {lease.session_id}"

    def _shutdown(self, move: Move) -> str:
        self.stopping = self.stopping or ReplyPort()
        self.forced = self.forced or move.kind == "force"
        self.plant.pool.outlet.put(m.Shutdown(self.stopping, force=move.kind == "force"))
        return ""

    _force = _shutdown

    def _time(self, move: Move) -> str:
        del move
        self.time_passed = True
        return self.let_time_pass()

    def let_time_pass(self) -> str:
        """Go to the next deadline.

        Returns:
            What it is about.
        """
        clock = self.plant.clock
        first = min(clock._entries)
        clock.advance(max(0.0, first.due_s - clock.monotonic_s()))
        return name_of(first.message)

    def thaw(self) -> None:
        """Let go on whatever hangs."""
        if self.hanging is not None:
            self._return(Move("return", self.hanging.actor.name))
        self.wedged.clear()
