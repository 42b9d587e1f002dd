"""A world whose clients have real connections, to a whole server on asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.exploration.front import Front
from tests.exploration.moves import Move
from tests.exploration.wired_client import WiredClient
from tests.exploration.world import World

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.simulation.client import Client
    from tests.exploration.far_end import Peer
    from tests.exploration.scenarios import Scenario

__all__ = ["LOOP", "WiredWorld", "world_of"]

LOOP = Move("step", "loop")


def world_of(scenario: Scenario) -> World:
    """A world in which a scenario can be played."""
    return World(scenario) if scenario.sessions is None else WiredWorld(scenario)


class WiredWorld(World):
    """One run of a scenario on a server of which only sockets, threads and time are missing.

    A step of the loop is one callback: actors and clients may come in between any two.

    Attributes:
        front: Listener, connections, and their loop.
        wired: Who has come, by name.
    """

    front: Front

    def _clients(self, names: Iterable[str]) -> dict[str, Client]:
        sessions, events = self.scenario.sessions, self.scenario.outbox_events
        assert sessions is not None
        self.front = self._stack.enter_context(Front(self.plant, sessions, events))
        pool = self.plant.pool
        self.wired = {name: WiredClient(name, pool, self.front) for name in names}
        return dict(self.wired)

    @property
    def steps(self) -> list[Move]:
        """The loop goes first: it has least to do."""
        return [LOOP, *super().steps] if self.front.loop.is_ready else super().steps

    @property
    def beside(self) -> list[object]:
        """Callbacks that are scheduled, and tasks."""
        return [self.front.loop.ready, self.front.loop.tasks]

    @property
    def loop_version(self) -> object:
        """Actors change nothing there but what is in an outbox, unless they schedule something."""
        met = [each.connection for each in self.wired.values() if each.connection is not None]
        outboxes = [(len(each._outbox._frames), each._outbox._closed) for each in met]
        return self.front.loop.version, outboxes

    @property
    def may_hasten(self) -> bool:
        """Connections take everything at any time."""
        return self.deed is not None

    @property
    def unanswered(self) -> list[str]:
        """Who has made a claim and was told nothing."""
        clients = self.wired.values()
        return [each.session_id for each in clients if each.claims and not each.reply.future.done()]

    def is_out(self, name: str) -> bool:
        """Whether a client does nothing more, or nothing now."""
        return super().is_out(name) or self.wired[name].peer.frozen

    def hears(self, name: str) -> bool:
        """Whether what a client is sent has come to it."""
        return not self.is_out(name)

    def _step(self, move: Move) -> str:
        if move != LOOP:
            return super()._step(move)
        if not self.front.loop.is_ready:
            raise ValueError("the loop has nothing to do")
        return self.front.loop.step()

    def _vanish(self, move: Move) -> str:
        self._peer(move).reset()
        self.wired[move.who].left = True
        return "a reset"

    def _cut(self, move: Move) -> str:
        self._peer(move).cut()
        self.wired[move.who].left = True
        return "the end of TCP, without a close frame"

    def _freeze(self, move: Move) -> str:
        self._peer(move).freeze()
        return "neither reads nor sends"

    def _thaw(self, move: Move) -> str:
        self._peer(move).thaw()
        return "goes on"

    def _rubbish(self, move: Move) -> str:
        self._peer(move).say(b"{")
        return "what is no event"

    def _shutdown(self, move: Move) -> str:
        twice = move.kind == "force" and self.stopping is None
        stopping = self.front.terminate(twice=twice)
        self.stopping = self.stopping or stopping
        self.forced = self.forced or move.kind == "force"
        return "SIGTERM, twice" if twice else "SIGTERM"

    _force = _shutdown

    def _peer(self, move: Move) -> Peer:
        peer = self.wired[move.who].peer
        if move.who not in self.claimed or peer.gone:
            raise ValueError(f"{move.who} is not there")
        self.front.loop.version += 1
        return peer
