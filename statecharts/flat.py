"""How the charts run: what the library does for a flat chart, and nothing else.

The library's own engine follows the algorithm for nested, parallel and remembered states with
every event, and every chart looks up its callbacks anew. These charts are flat, and all charts of
a class have the same callbacks: which event does what in which state is worked out once.
"""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from statemachine.exceptions import InvalidDefinition, TransitionNotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from statemachine import State, StateChart
    from statemachine.event_data import TriggerData
    from statemachine.transition import Transition

    _Chart: TypeAlias = StateChart[Any]

__all__ = ["FlatEngine"]


@dataclass(frozen=True, slots=True)
class _Callback:
    """A method of a chart, with the names of the arguments that it takes."""

    method: Callable[..., object]
    wants: tuple[str, ...]
    wanted_answer: bool

    def call(self, chart: _Chart, data: Mapping[str, object]) -> object:
        return self.method(chart, **{name: data[name] for name in self.wants if name in data})

    def agrees(self, chart: _Chart, data: Mapping[str, object]) -> bool:
        return bool(self.call(chart, data)) == self.wanted_answer


_Callbacks: TypeAlias = tuple[_Callback, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """A transition, ready to be taken.

    Attributes:
        guards: All of them have to agree.
        leaving: Called in the old state.
        passing: Called between the states, or in the old one if that stays.
        target: The new state; None if the old one stays.
        entering: Called in the new state.
        after: Called when all is done, with nothing that could be undone.
    """

    guards: _Callbacks
    leaving: _Callbacks
    passing: _Callbacks
    target: State | None
    entering: _Callbacks
    after: _Callbacks


class FlatEngine:
    """Moves one chart: the first transition whose guards agree is taken, or the event is refused.

    Promises: the same states, the same callbacks in the same order, and the same errors as the
    library's own engine, for flat charts that leave errors to their owner. What a callback
    raises leaves the chart in the state in which it was.
    """

    __slots__ = ("_chart", "_is_busy", "_waiting", "running")

    def __init__(self, chart: _Chart) -> None:
        """Begin without a state.

        Raises:
            InvalidDefinition: The chart is not flat, or a callback is not to be found.
        """
        _steps(type(chart))
        self.running = True
        """Whether no final state has been entered."""
        self._chart = chart
        self._is_busy = False
        self._waiting: deque[TriggerData] = deque()

    # --- what the library's charts ask of an engine -----------------------------------------

    def start(self) -> None:
        """Enter the initial state."""
        chart = self._chart
        (initial,) = (state for state in chart.states if state.initial)
        chart.current_state_value = initial.value
        for callback in _callbacks(type(chart), initial.enter):
            callback.call(chart, {"event": "__initial__"})

    def put(self, trigger_data: TriggerData, internal: bool = False) -> None:  # noqa: FBT001, FBT002
        """Take an event; :meth:`processing_loop` does what it is for.

        Raises:
            TransitionNotAllowed: The chart is in a final state.
        """
        del internal
        if not self.running:
            raise TransitionNotAllowed(trigger_data.event, self._chart.configuration)
        self._waiting.append(trigger_data)

    def processing_loop(self) -> None:
        """Do what the waiting events are for; those that a callback sends come after its own.

        Raises:
            TransitionNotAllowed: An event is illegal in its state.
        """
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._waiting and self.running:
                self._take(self._waiting.popleft())
        finally:
            self._is_busy = False
            self._waiting.clear()

    # --- one event ----------------------------------------------------------------------------

    def _take(self, trigger: TriggerData) -> None:
        chart, event = self._chart, str(trigger.event)
        data = {**trigger.kwargs, "event": event}
        for step in _steps(type(chart)).get((chart.current_state_value, event), ()):
            if all(guard.agrees(chart, data) for guard in step.guards):
                break
        else:
            raise TransitionNotAllowed(trigger.event, chart.configuration)
        before = chart.current_state_value
        try:
            self._move(step, data)
        except BaseException:
            chart.current_state_value = before
            raise
        for callback in step.after:
            callback.call(chart, data)

    def _move(self, step: _Step, data: Mapping[str, object]) -> None:
        chart = self._chart
        for callback in step.leaving:
            callback.call(chart, data)
        if step.target is not None:
            chart.current_state_value = None
        for callback in step.passing:
            callback.call(chart, data)
        if step.target is None:
            return
        chart.current_state_value = step.target.value
        for callback in step.entering:
            callback.call(chart, data)
        self.running = not step.target.final


# --- worked out once for each class -------------------------------------------------------------


@cache
def _steps(chart: type[_Chart]) -> Mapping[tuple[object, str], tuple[_Step, ...]]:
    """What may happen with each event in each state, in the order in which it is tried."""
    found: dict[tuple[object, str], tuple[_Step, ...]] = {}
    for state in chart.states:
        if state.states or state.history or state.parallel:
            raise InvalidDefinition(f"{chart.__name__}.{state.id} is not flat")
        for transition in state.transitions:
            if transition.is_eventless or len(transition.targets) != 1:
                raise InvalidDefinition(f"{chart.__name__}: {transition} has no event or target")
            for event in map(str, transition.events):
                key = (state.value, event)
                found[key] = (*found.get(key, ()), _step(chart, transition, event))
    return found


def _step(chart: type[_Chart], transition: Transition, event: str) -> _Step:
    source, (target,), stays = transition.source, transition.targets, transition.internal
    return _Step(
        guards=_callbacks(chart, transition.cond),
        leaving=(
            *_callbacks(chart, transition.before, event),
            *(() if stays else _callbacks(chart, source.exit)),
        ),
        passing=_callbacks(chart, transition.on, event),
        target=None if stays else target,
        entering=() if stays else _callbacks(chart, target.enter),
        after=_callbacks(chart, transition.after, event),
    )


def _callbacks(chart: type[_Chart], specs: Iterable[Any], event: str = "") -> _Callbacks:
    """The methods that a chart has for one occasion, in the order of the library."""
    there = [
        spec
        for spec in sorted(specs, key=lambda spec: int(spec.priority))
        if (spec.cond is None or spec.cond(event=event))
        and not (spec.is_convention and not hasattr(chart, spec.attr_name))
    ]
    return tuple(_callback(chart, spec.attr_name, spec.expected_value) for spec in there)


def _callback(chart: type[_Chart], name: str, wanted_answer: bool | None) -> _Callback:  # noqa: FBT001
    method = getattr(chart, name, None)
    if not inspect.isfunction(method):
        raise InvalidDefinition(f"{chart.__name__} has no method {name!r}")
    _, *parameters = inspect.signature(method).parameters.values()
    if any(
        each.kind is each.VAR_KEYWORD or each.kind is each.VAR_POSITIONAL for each in parameters
    ):
        raise InvalidDefinition(f"{chart.__name__}.{name} does not name its arguments")
    return _Callback(method, tuple(each.name for each in parameters), wanted_answer is not False)
