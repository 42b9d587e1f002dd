"""The five actors of a unit and the places that they fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.actors.messages import Bind, OpenConversation
from s2s_actors.runtime.outlet import Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from s2s_actors.actors.lease import Lease
    from s2s_actors.actors.ports import ClientPort, SessionWish
    from s2s_actors.runtime.actor import ActorOutlet
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.outlet import Outlet

    StageBuilder: TypeAlias = Callable[[str, Mapping[str, Slot], Outlet], ActorOutlet]

ORDER = ("conversation", "vad", "stt", "llm", "tts")
"""The way of SESSION_END through a unit; after the last one it comes to the unit."""


class Pipeline:
    """Slots in the order of the pipeline, each filled by a running actor.

    Promises: a stage that has been replaced takes no message more, and its neighbours reach
    the fresh one through the same slot; a place is never empty. Used by one thread, the
    unit's; only the slots are shared.
    """

    def __init__(self, build: StageBuilder) -> None:
        """Prepare the places.

        Args:
            build: Starts a fresh actor for the named stage; given the slots and the unit.
        """
        self._build = build
        self._slots = {name: Slot() for name in ORDER}
        self._outlets: dict[str, ActorOutlet] = {}
        self._unit: Outlet = Slot()

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, in the order of SESSION_END."""
        return ORDER

    @property
    def head(self) -> Slot:
        """Where clients' events and SESSION_END go in."""
        return self._slots["conversation"]

    def start(self, unit: Outlet) -> None:
        """Fill all places; ``unit`` supervises and takes SESSION_END at the end."""
        self._unit = unit
        for name in ORDER:
            self._fill(name, self._build(name, self._slots, self._unit))

    def stop(self) -> None:
        """Stop all stages without waiting for them."""
        for outlet in self._outlets.values():
            outlet.abandon()

    def bind(self, lease: Lease, scope: CancelToken, client: ClientPort, wish: SessionWish) -> None:
        """Bind every stage, the conversation last: it speaks to all the others at once."""
        for name in reversed(ORDER[1:]):
            self.rebind(name, lease, scope)
        self.head.put(OpenConversation(lease, scope, client, wish))

    def rebind(self, stage: str, lease: Lease, scope: CancelToken) -> None:
        """Bind one stage."""
        self._slots[stage].put(Bind(lease, scope))

    def replace(self, stage: str) -> None:
        """Put a fresh actor into a place.

        Raises:
            RuntimeError: No thread to be had; nothing has changed.
        """
        fresh = self._build(stage, self._slots, self._unit)
        self._outlets[stage].abandon()
        self._fill(stage, fresh)

    def stage_of(self, actor_urn: str) -> str | None:
        """Which place an actor fills, None for one that has been replaced."""
        for name, outlet in self._outlets.items():
            if outlet.ref.actor_urn == actor_urn:
                return name
        return None

    def _fill(self, name: str, outlet: ActorOutlet) -> None:
        self._outlets[name] = outlet
        self._slots[name].fill(outlet)
