"""The half of the server that runs on asyncio, stepped by hand: listener and connections."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, cast
from unittest import mock

from s2s_actors.actors import messages as m
from s2s_actors.actors.health import Health, HealthLimits
from s2s_actors.actors.ports import Granted
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.server import listener
from s2s_actors.server.app import serve
from s2s_actors.server.connection import Connection
from s2s_actors.server.door import Door
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.options import ServerOptions
from s2s_actors.server.peer import PeerConnection
from tests.exploration.stepped_loop import Future, SteppedLoop

if TYPE_CHECKING:
    import asyncio
    import socket

    from s2s_actors.actors.ports import ClaimReply
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.server.limits import Limits
    from s2s_actors.simulation.plant import SteppedPlant
    from tests.exploration.wired_client import WiredClient

__all__ = ["Front", "Witnessed"]

KEY: Final = "both"


class Front:
    """Runs the real ``serve()`` of one server, on a loop that is stepped.

    Only sockets are missing, and the keepalive of websockets: its pings are chance. Use it as a
    context manager; on exit its tasks are cancelled, and must end.

    Attributes:
        loop: Whose steps the connections' are.
        secret: Of the key that all clients show.
        serving: Ends when the server has stopped.
        limits: Those of the listener, as soon as there is a connection.
    """

    def __init__(self, plant: SteppedPlant, sessions: int, outbox_events: int) -> None:
        """Prepare it.

        Args:
            plant: The actors.
            sessions: How many the clients, who have one key, may have at a time.
            outbox_events: How many events may wait for each.
        """
        # What it does not have nobody here needs.
        self.loop = SteppedLoop(plant.clock)  # type: ignore[abstract]
        self.secret = "secret"  # noqa: S105 - of nothing
        self.limits: Limits | None = None
        self._plant = plant
        self._clients: dict[object, WiredClient] = {}
        key = ApiKey(KEY, hash_of(self.secret), max_sessions=sessions)
        self._options = ServerOptions(
            ping_interval_s=None,
            outbox_limit_events=outbox_events,
            door=Door(keys=KeyRing([key])),
            show_session_ids=False,
        )
        self._patches = ExitStack()

    def __enter__(self) -> Self:
        for name, instead in (("Connection", self._meet), ("PeerConnection", _Numbered)):
            self._patches.enter_context(mock.patch.object(listener, name, instead))
        plant = self._plant
        work = serve(
            self._options,
            cast("Outlet", _Desk(self, plant.pool.outlet)),
            plant.board,
            (),
            health=Health(plant.clock, HealthLimits()),
            sock=cast("socket.socket", _NoSocket()),
        )
        with self.loop.entered():
            self.serving: asyncio.Task[None] = self.loop.create_task(work)
        while self.loop.is_ready or plant.ready:
            self.loop.run()
            plant.run()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._patches.close()
        for _ in range(2):
            for task in self.loop.tasks:
                task.cancel()
            self.loop.run()
        left = [task.work for task in self.loop.tasks]
        assert not left, left

    # --- what the world does ------------------------------------------------------------------

    def connect(self, client: WiredClient) -> None:
        """Let a client come, if the door is still open."""
        factory, server = self.loop.listeners[0]
        if not server.open:
            client.left = client.peer.gone = True
            return
        with self.loop.entered():
            protocol: Any = factory()
            self._clients[protocol] = client
            client.peer.connect(protocol)

    def terminate(self, *, twice: bool = False) -> ReplyPort[None]:
        """Send SIGTERM.

        Returns:
            Is answered when the server has stopped.
        """
        stopped: ReplyPort[None] = ReplyPort()
        with self.loop.entered():
            self.serving.add_done_callback(lambda _: stopped.send(None))
        for _ in range(1 + twice):
            self.loop.signal(signal.SIGTERM)
        return stopped

    @property
    def sessions_counted(self) -> int:
        """How many sessions the listener counts for the clients' key."""
        uses = {} if self.limits is None else self.limits._uses
        return uses[KEY].sessions if KEY in uses else 0

    def client_of(self, session_id: str) -> WiredClient:
        """Whose session it is."""
        return next(each for each in self._clients.values() if each.session_id == session_id)

    def _meet(self, ws: Any, *rest: Any, **more: Any) -> Witnessed:
        connection = Witnessed(ws, *rest, **more)
        self._clients[ws].meet(connection)
        self.limits = connection._visit._limits
        return connection


class Witnessed(Connection):
    """A connection that tells of its own failures; to the log nobody listens here."""

    failures: tuple[str, ...] = ()

    async def run(self) -> None:
        try:
            await super().run()
        except Exception as error:
            self.failures = (*self.failures, f"fails with {error!r}")
            raise

    def _fail(self) -> None:
        self.failures = (*self.failures, "fails by itself")
        super()._fail()


class _Numbered(PeerConnection):
    """A connection that is told apart by a number: sets of them have one order in every run."""

    def __hash__(self) -> int:
        assert isinstance(self.connection_lost_waiter, Future)
        return self.connection_lost_waiter.serial


class _NoSocket:
    """What a server listens on."""

    def listen(self) -> None:
        """Nothing to do: connections come by themselves."""

    def getsockname(self) -> tuple[str, int]:
        return ("192.0.2.2", 80)


class _Desk:
    """Stands before the pool, and counts what connections take and give back."""

    def __init__(self, front: Front, pool: Outlet) -> None:
        self._front = front
        self._pool = pool

    def put(self, message: object) -> None:
        if isinstance(message, m.Claim):
            client = self._front.client_of(message.session_id)
            client.claims += 1
            message = replace(message, reply=_Counting(message.reply, client))
        elif isinstance(message, m.CancelClaim):
            self._front.client_of(message.session_id).given_back.append("claim")
        self._pool.put(message)


class _Counting(ReplyPort["ClaimReply"]):
    """The reply port of a connection; a unit that goes through it is counted when it comes back."""

    __slots__ = ("_client",)

    def __init__(self, port: ReplyPort[ClaimReply], client: WiredClient) -> None:
        self.future = port.future
        self._client = client

    def send(self, value: ClaimReply) -> bool:
        if isinstance(value, Granted):
            value = replace(value, unit=_Returns(value.unit, self._client))
        return super().send(value)


class _Returns:
    """The way to a unit."""

    def __init__(self, unit: Outlet, client: WiredClient) -> None:
        self._unit = unit
        self._client = client

    def put(self, message: object) -> None:
        if isinstance(message, m.EndSession):
            self._client.given_back.append("unit")
        self._unit.put(message)
