"""Goes through what can happen to a world, depth first, as far as a budget allows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tests.exploration.configuration import Configurations
from tests.exploration.faults import faults_in
from tests.exploration.moves import FAULTS, BrokenPromise, Move, Trace
from tests.exploration.promises import PromiseError, Watch
from tests.exploration.scenarios import SCENARIOS
from tests.exploration.settling import settle
from tests.exploration.wired_world import world_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.exploration.world import World

UNBOUNDED: Final = 10**9


@dataclass(frozen=True, slots=True)
class Budget:
    """How far an exploration goes.

    Attributes:
        faults: Accidents on one way.
        turns: How often, on one way, somebody else than the usual one goes next. The usual
            order is that of the pipeline; a client acts when nobody else has anything to do.
        steps: Messages handled, in all; after that the exploration stops, incomplete.
        kinds: Which accidents there are.
    """

    faults: int
    turns: int
    steps: int = UNBOUNDED
    kinds: frozenset[str] = FAULTS

    def after(self, move: Move, *, usual: bool) -> Budget | None:
        """What is left after a move; None if it does not allow the move."""
        if move.is_fault and move.kind not in self.kinds:
            return None
        faults = self.faults - move.is_fault
        turns = self.turns - (not usual and not move.is_fault)
        return replace(self, faults=faults, turns=turns) if min(faults, turns) >= 0 else None

    def covers(self, other: Budget) -> bool:
        """Whether it allows all that another one does."""
        return self.faults >= other.faults and self.turns >= other.turns


@dataclass(slots=True)
class Exploration:
    """What was seen.

    Promises: if ``complete``, then every way within the budget was gone, and no promise was
    broken on any of them; ways that differ only in the order of steps of different units
    were gone once.

    Attributes:
        scenario: Name of what went on.
        budget: How far it went.
        configurations: How many different ones it met, but for those on the way to rest.
        edges: How many moves lead from one of them to another.
        ends: Ways that were gone to the end, where all must come back.
        steps: Messages handled, those of replays included.
        complete: Whether the number of steps was enough.
    """

    scenario: str
    budget: Budget
    edges: int = 0
    ends: int = 0
    steps: int = 0
    complete: bool = True
    _seen: dict[bytes, list[Budget]] = field(default_factory=dict)
    _served: set[bytes] = field(default_factory=set)

    @property
    def configurations(self) -> int:
        """How many different ones it met."""
        return len(self._seen)

    def __str__(self) -> str:
        known = "" if self.complete else " (INCOMPLETE: out of steps)"
        return (
            f"{self.scenario}, {self.budget.faults} faults, {self.budget.turns} turns: "
            f"{self.configurations} configurations, {self.edges} edges, {self.ends} ends, "
            f"{self.steps} steps{known}"
        )

    def is_new(self, configuration: bytes, left: Budget) -> bool:
        """Note a configuration; whether more may follow from it than is known already."""
        known = self._seen.setdefault(configuration, [])
        if any(each.covers(left) for each in known):
            return False
        known[:] = [each for each in known if not left.covers(each)]
        known.append(left)
        return True


@dataclass(frozen=True, slots=True)
class _Way:
    """How to come to a configuration, and what may still be spent from there."""

    moves: tuple[Move, ...]
    left: Budget


def explore(scenario: str, budget: Budget) -> Exploration:
    """Go every way that the budget allows; each from a fresh plant.

    Args:
        scenario: A name in ``SCENARIOS``.
        budget: How far to go.

    Raises:
        BrokenPromise: Something happened that must not; it tells the way there.
    """
    seen = Exploration(scenario, budget)
    waiting = [_Way((), budget)]
    while waiting:
        if seen.steps >= budget.steps:
            seen.complete = False
            break
        waiting += reversed(_Walk(seen).go(waiting.pop()))
    return seen


class _Walk:
    """Goes one way to its end, and notes where others branch off."""

    def __init__(self, seen: Exploration) -> None:
        self._seen = seen
        self._moves: list[Move] = []
        self._notes: list[str] = []
        self._branches: list[_Way] = []

    def go(self, way: _Way) -> list[_Way]:
        """Go there, and on in the usual order, until all is known or over."""
        world = world_of(SCENARIOS[self._seen.scenario])
        with world:
            watch = Watch(world)
            try:
                before: list[Move] = []
                for move in way.moves[:-1]:
                    self._play(world, move)
                    watch.follow()
                for move in way.moves[-1:]:
                    before = world.steps
                    self._play(world, move)
                    watch.look()
                self._seen.edges += bool(way.moves)
                self._go_on(world, watch, way.left, before)
            except PromiseError as error:
                trace = Trace(self._seen.scenario, tuple(self._moves), tuple(self._notes))
                raise BrokenPromise(str(error), trace) from None
        return self._branches

    def _play(self, world: World, move: Move) -> None:
        self._moves.append(move)
        self._notes.append("")
        self._notes[-1] = world.play(move)
        self._seen.steps += 1

    def _go_on(self, world: World, watch: Watch, left: Budget, before: list[Move]) -> None:
        configurations = Configurations(world)
        while self._seen.is_new(configurations.read(watch.memory), left):
            redundant = _known_from_elsewhere(self._moves, before)
            before = world.steps
            usual = _usual(world)
            for move in _possible(world):
                after = left.after(move, usual=False)
                if after is not None and move not in (usual, *redundant):
                    self._branches.append(_Way((*self._moves, move), after))
            if usual is None:
                self._seen.steps += settle(world, watch, self._seen._served)
                self._seen.ends += 1
                return
            if usual in redundant:
                return
            self._play(world, usual)
            watch.look()
            self._seen.edges += 1


def _usual(world: World) -> Move | None:
    return next(iter(world.steps), None) or world.deed


def _possible(world: World) -> Iterator[Move]:
    yield from world.steps
    if (deed := world.deed) is not None and world.may_hasten:
        yield deed
    if world.hanging is not None:
        yield Move("return", world.hanging.actor.name)
    yield from faults_in(world)


def _known_from_elsewhere(moves: list[Move], before: list[Move]) -> list[Move]:
    """Steps that could have been taken before the last one, with the same result.

    A step of one unit and a step of another one commute, unless both units speak to the pool;
    so of two such steps in a row the one of the lower unit comes first.
    """
    last = moves[-1] if moves else None
    if last is None or last.unit is None:
        return []
    return [
        move
        for move in before
        if move.unit is not None
        and move.unit < last.unit
        and not (move.who.startswith("unit") and last.who.startswith("unit"))
    ]


def replay(trace: Trace) -> None:
    """Go a way once more, and then let everything come to rest.

    Raises:
        BrokenPromise: Where the way breaks a promise.
        ValueError: The way does not exist.
    """
    notes: list[str] = []
    with world_of(SCENARIOS[trace.scenario]) as world:
        watch = Watch(world)
        try:
            for move in trace.moves:
                notes.append("")
                notes[-1] = world.play(move)
                watch.look()
            settle(world, watch, set())
        except PromiseError as error:
            gone = Trace(trace.scenario, trace.moves[: len(notes)], tuple(notes))
            raise BrokenPromise(str(error), gone) from None
