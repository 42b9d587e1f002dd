"""A whole process of actors, run by hand: it lives in the package, for its users too."""

from s2s_actors.simulation.client import Client
from s2s_actors.simulation.fakes import (
    TTS_RATE_HZ,
    FakeLlm,
    FakeStt,
    FakeTts,
    FakeTurn,
    FakeVad,
    Mischief,
    level_of,
)
from s2s_actors.simulation.plant import STAGES, Poison, SteppedPlant
from s2s_actors.simulation.sounds import append, loud, silent, text_item

__all__ = [
    "STAGES",
    "TTS_RATE_HZ",
    "Client",
    "FakeLlm",
    "FakeStt",
    "FakeTts",
    "FakeTurn",
    "FakeVad",
    "Mischief",
    "Poison",
    "SteppedPlant",
    "append",
    "level_of",
    "loud",
    "silent",
    "text_item",
]
