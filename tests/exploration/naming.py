"""What messages are called in a trace, and in which order actors go if nothing else is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.simulation.plant import STAGES

if TYPE_CHECKING:
    from s2s_actors.runtime.actor import Actor

__all__ = ["name_of", "place_of"]

_PLACES: Final = {"unit": 0, **{name: place for place, name in enumerate(STAGES, 1)}}


def place_of(actor: Actor) -> tuple[int, int]:
    """The place of an actor: the pool first, then one unit after the other, each in its order."""
    name, _, number = actor.name.partition("-")
    return (int(number), _PLACES[name]) if number else (-1, 0)


def name_of(message: object) -> str:
    """What a message is, and what of."""
    name = getattr(message, "name", getattr(message, "stage", ""))
    return f"{type(message).__name__} {name}".rstrip()
