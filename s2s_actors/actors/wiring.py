"""Builds the actors of a process: one pool, its units, and the stages of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_actors.actors.conversation import ConversationActor, ConversationRules, StageOutlets
from s2s_actors.actors.llm import LlmActor
from s2s_actors.actors.pipeline import ORDER, Pipeline
from s2s_actors.actors.pool import PoolActor, PoolRules
from s2s_actors.actors.stage import Links
from s2s_actors.actors.stt import SttActor
from s2s_actors.actors.tts import TtsActor
from s2s_actors.actors.unit import UnitActor, UnitTimings
from s2s_actors.actors.vad import VadActor
from s2s_actors.runtime.actor import ActorOutlet

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pykka

    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.backends.base import Models
    from s2s_actors.runtime.outlet import Outlet, Slot


@dataclass(frozen=True, slots=True)
class Plant:
    """Everything that the actors of a process have in common.

    Attributes:
        models: Loaded once, shared by all units.
    """

    models: Models
    around: Surroundings
    pool_rules: PoolRules
    timings: UnitTimings
    conversation: ConversationRules

    def start_pool(self, supervisor: Outlet | None = None) -> ActorOutlet:
        """Start the pool, which starts its units."""
        ref = PoolActor.start(self.pool_rules, self.build_unit, self.around, supervisor)
        return ActorOutlet(ref)

    def build_unit(self, index: int, pool: Outlet) -> ActorOutlet:
        """Start one unit; it starts its stages."""

        def build(name: str, slots: Mapping[str, Slot], unit: Outlet) -> ActorOutlet:
            return self.build_stage(index, name, slots, unit)

        ref = UnitActor.start(index, Pipeline(build), pool, self.around, self.timings)
        return ActorOutlet(ref)

    def build_stage(
        self, unit_index: int, name: str, slots: Mapping[str, Slot], unit: Outlet
    ) -> ActorOutlet:
        """Start a fresh actor for one place of a pipeline."""
        place = ORDER.index(name) + 1
        onward = slots[ORDER[place]] if place < len(ORDER) else unit
        links = Links(unit=unit, conversation=slots["conversation"], onward=onward)
        thread = f"{name}-{unit_index}"
        models = self.models
        match name:
            case "conversation":
                stages = StageOutlets(
                    vad=slots["vad"], stt=slots["stt"], llm=slots["llm"], tts=slots["tts"]
                )
                ref: pykka.ActorRef[Any] = ConversationActor.start(
                    thread, links, stages, self.conversation, self.around
                )
            case "vad":
                ref = VadActor.start(thread, links, models.vad, models.turn, self.around)
            case "stt":
                ref = SttActor.start(thread, links, models.stt, self.around.load)
            case "llm":
                ref = LlmActor.start(thread, links, models.llm, self.around.load)
            case "tts":
                ref = TtsActor.start(thread, links, models.tts, self.around.load)
            case _:
                raise ValueError(name)
        return ActorOutlet(ref)
