"""What the actors of a process have around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.actors.hosts import Hosts
from s2s_actors.actors.load import Load
from s2s_actors.backends.mcp_base import NoMcp

if TYPE_CHECKING:
    from s2s_actors.actors.board import Board
    from s2s_actors.backends.mcp_base import McpGateway
    from s2s_actors.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all actors share.

    Attributes:
        board: Where they publish.
        clock: Where they get the time from.
        mcp: Their way to MCP servers.
        load: How busy the models are.
        limits: How late the process may be.
        hosts: Which threads the actors run on; by default each on its own.
        health: How late it is.
    """

    board: Board
    clock: Clock
    mcp: McpGateway = field(default_factory=NoMcp)
    load: Load = field(default_factory=Load)
    limits: HealthLimits = field(default_factory=HealthLimits)
    hosts: Hosts = field(default_factory=Hosts)
    health: Health = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "health", Health(self.clock, self.limits, self.load.queues))
