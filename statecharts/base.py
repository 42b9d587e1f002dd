"""What every chart in this project shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from statemachine import StateChart


@dataclass(frozen=True, slots=True)
class Effect:
    """Something the owner of a chart has to do after a transition."""


class StrictChart(StateChart[Any]):
    """A chart that refuses illegal events and never swallows an error.

    Charts decide and owners act: a callback only records effects, so it cannot fail
    halfway, and a test needs neither threads nor clocks to check every path. An illegal
    event raises ``TransitionNotAllowed`` and changes nothing.
    """

    allow_event_without_transition = False
    catch_errors_as_events = False
    # An event that stays in its state must not enter it anew: entry actions are promises.
    # The library obeys this for transitions marked internal, so every self-transition is.
    enable_self_transition_entries = False

    def __init__(self) -> None:
        # Set before super(): entering the initial state already runs callbacks.
        self._effects: list[Effect] = []
        super().__init__()

    @property
    def state_name(self) -> str:
        """Name of the one active state: these charts are flat on purpose."""
        (value,) = self.configuration_values
        return str(value)

    def emit(self, effect: Effect) -> None:
        """Record an effect for the owner."""
        self._effects.append(effect)

    def take_effects(self) -> list[Effect]:
        """Hand over the effects recorded since the last call, oldest first."""
        effects, self._effects = self._effects, []
        return effects

    def fire(self, event: str, **data: Any) -> list[Effect]:
        """Send an event and hand over the effects of its transition.

        Raises:
            TransitionNotAllowed: The event is illegal here; nothing has changed.
        """
        self.send(event, **data)
        return self.take_effects()
