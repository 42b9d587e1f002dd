"""One client's connection: it claims a unit, carries events both ways, and gives it back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from websockets.exceptions import ConnectionClosed

from s2s_actors.actors.messages import CancelClaim, Claim
from s2s_actors.actors.messages import EndSession as EndSessionMessage
from s2s_actors.actors.ports import ClaimReply, Granted, Refused
from s2s_actors.protocol.codec import encode
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.server_events import server_error
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.server.audio_meter import AudioMeter
from s2s_actors.server.handshake import target_of, wish_of
from s2s_actors.server.intake import Intake
from s2s_actors.server.outbox import Farewell, Outbox
from s2s_actors.server.queue_news import QueueNews
from s2s_actors.server.wire_log import WireLog
from s2s_actors.server.writing import write_events
from statecharts.connection import (
    AbortTransport,
    ConnectionChart,
    EndSession,
    SendClose,
    SendRefusal,
)

if TYPE_CHECKING:
    from s2s_actors.actors.health import Health
    from s2s_actors.actors.tally import Tally
    from s2s_actors.runtime.outlet import Outlet
    from s2s_actors.server.limits import Denied, Visit
    from s2s_actors.server.options import ServerOptions
    from s2s_actors.server.peer import PeerConnection
    from s2s_actors.server.writing import Lost, Written
    from statecharts.base import Effect

logger = logging.getLogger(__name__)

_INTERNAL_ERROR = 1011
_TRY_AGAIN_LATER = 1013


class Connection:
    """Owner of one :class:`~statecharts.connection.ConnectionChart`.

    Promises: a unit that was granted is given back exactly once, however the connection ends
    and whatever fails, and before anything waits for the peer, and so is what its key has of
    it; :meth:`run` ends within the configured deadlines after either side has left.
    """

    def __init__(  # noqa: PLR0913 - a client meets everything here
        self,
        ws: PeerConnection,
        pool: Outlet,
        options: ServerOptions,
        health: Health,
        visit: Visit,
        *,
        tally: Tally,
    ) -> None:
        self._ws = ws
        self._pool = pool
        self._options = options
        self._session_id = new_id("sess")
        self._wire_log = WireLog(self._session_id)
        self._chart = ConnectionChart()
        self._reply: ReplyPort[ClaimReply] = ReplyPort()
        self._refused: Refused | None = None
        self._outbox = Outbox(
            limit_events=options.outbox_limit_events,
            limit_bytes=options.outbox_limit_bytes,
            health=health,
        )
        self._visit = visit
        self._tally = tally
        meter = AudioMeter(None if ws.lent is None else ws.lent.settings())
        self._intake = Intake(self._outbox, health.now_s, visit, meter, tally)
        self._holds = False  # a claim or a unit

    async def run(self) -> None:
        """Serve the client until one side leaves."""
        reader = asyncio.create_task(self._read())
        writer = asyncio.create_task(
            write_events(self._ws, self._outbox, self._options.write_timeout_s, self._wire_log)
        )
        try:
            await self._hold_unit(reader, writer)
            await self._part(writer)
            self._note_silence()
        finally:
            reader.cancel()
            writer.cancel()
            self._ws.transport.abort()
            await asyncio.gather(reader, writer, return_exceptions=True)

    async def _hold_unit(self, reader: asyncio.Task[None], writer: asyncio.Task[Written]) -> None:
        """Everything between the claim and the release."""
        try:
            denied = self._visit.begin()
            if denied is None:
                self._holds = True
                self._pool.put(self._claim())
                await self._serve(reader, writer)
            else:
                self._deny(denied)
        except Exception:
            logger.exception("the connection of session %s failed", self._session_id)
            self._fail()
        finally:
            # Outside of the chart on purpose: this must happen even if the chart is wrong.
            self._visit.end()
            self._release("connection_failed")
            self._intake.close()

    def _claim(self) -> Claim:
        assert self._ws.request is not None
        target = target_of(self._ws.request)
        wish = wish_of(target, self._ws.lent)
        news = QueueNews(self._outbox) if target.queue_events == "1" else None
        return Claim(self._session_id, self._outbox, self._reply, wish, news)

    async def _serve(self, reader: asyncio.Task[None], writer: asyncio.Task[Written]) -> None:
        """Wait for whatever happens and feed the chart, until it says that it is over."""
        answer = asyncio.wrap_future(self._reply.future)
        overflow, gone = self._outbox.overflowed, self._ws.gone
        watched: set[asyncio.Future[None] | asyncio.Future[ClaimReply] | asyncio.Task[Written]]
        watched = {answer, reader, writer, overflow, gone}
        while True:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            # The answer first: a client that left while it came has a unit to give back.
            if answer in watched and answer.done():
                watched.discard(answer)
                self._take_answer(answer.result())
            if self._chart.closing.is_active:
                return
            if reader.done():
                reader.result()  # a fault of ours must not pass for a client that left
            if gone.done() or reader.done():
                self._feed("client_left")
                return
            if overflow.done():
                self._feed("unresponsive")
                return
            if writer.done():
                outcome = writer.result()
                self._feed("server_close" if isinstance(outcome, Farewell) else outcome)
                return

    def _deny(self, denied: Denied) -> None:
        logger.info(
            "session %s: key %r gets no session (%s)",
            self._session_id,
            self._visit.name,
            denied.reason,
        )
        self._refused = Refused(denied.code, denied.text, _TRY_AGAIN_LATER)
        self._feed("refused")

    def _take_answer(self, answer: ClaimReply) -> None:
        if isinstance(answer, Granted):
            self._feed("granted")
            if self._ws.key is not None:
                logger.info("session %s: key %r", self._session_id, self._visit.name)
            self._intake.open(answer)
        else:
            self._refused = answer
            self._feed("refused")

    def _fail(self) -> None:
        """Tell the client that something is wrong here, as far as the chart still allows."""
        if self._chart.claiming.is_active:
            self._refused = Refused("internal_error", "The server failed.", _INTERNAL_ERROR)
            self._feed("refused")
        elif self._chart.connected.is_active:
            self._outbox.close(_INTERNAL_ERROR, "The server failed.")
            self._feed("server_close")

    def _feed(self, event: str) -> None:
        self._chart.send(event)
        logger.info("session %s: %s, now %s", self._session_id, event, self._chart.state_name)
        for effect in self._chart.take_effects():
            self._carry_out(effect, event)

    def _carry_out(self, effect: Effect, event: str) -> None:
        match effect:
            case SendRefusal():
                self._refuse()
            case EndSession():
                self._release(event)
            case AbortTransport():
                logger.warning("session %s: the client does not read", self._session_id)
                self._tally.client_cut("not_reading")
                self._ws.transport.abort()
            case SendClose():
                pass  # takes time: _part does it
            case _:
                raise NotImplementedError(effect)

    def _refuse(self) -> None:
        refused = self._refused
        assert refused is not None
        message = refused.message
        if refused.retry_after_s is not None:
            message = f"{message} Try again in {refused.retry_after_s:g} s."
        self._outbox.send(encode(server_error(refused.code, message)))
        self._outbox.close(refused.close_code, message)

    def _release(self, reason: str) -> None:
        """Give the unit back, or the claim up if it has not been answered. Idempotent."""
        if not self._holds:
            return
        self._holds = False
        # From here on the pool's answer either is in our hands or was never accepted.
        answer = self._reply.withdraw()
        if answer is None:
            self._pool.put(CancelClaim(self._session_id))
        elif isinstance(answer, Granted):
            answer.unit.put(EndSessionMessage(answer.lease, reason))

    async def _part(self, writer: asyncio.Task[Written]) -> None:
        """End the connection as gently as the peer allows, in bounded time."""
        if self._chart.closing.is_active:
            self._feed(await self._say_goodbye(writer))
        self._outbox.discard()
        # The library's own close() waits without limit for a peer that does not read, so
        # run() must not return before the TCP connection is gone.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._options.close_timeout_s):
                await self._ws.wait_closed()

    def _note_silence(self) -> None:
        if self._ws.missed_pong:
            logger.info("session %s: the client did not answer a ping", self._session_id)
            self._tally.client_cut("no_pong")

    async def _say_goodbye(self, writer: asyncio.Task[Written]) -> Lost:
        """Send what is left and a close frame, and wait for the client's."""
        overflow, gone = self._outbox.overflowed, self._ws.gone
        watched: set[asyncio.Future[None] | asyncio.Task[Written]] = {writer, overflow, gone}
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        if not writer.done():
            return "unresponsive" if overflow.done() else "client_left"
        written = writer.result()
        if not isinstance(written, Farewell):
            return written
        try:
            async with asyncio.timeout(self._options.close_timeout_s):
                await self._ws.close(written.code, written.reason)
        except TimeoutError:
            return "unresponsive"
        return "client_left"

    async def _read(self) -> None:
        # Never wait for the pipeline here. While this loop is stuck websockets stops reading
        # the socket, so pongs go unread and a healthy client gets closed.
        with contextlib.suppress(ConnectionClosed):
            while True:
                frame = await self._ws.recv()
                self._wire_log.received(frame)
                self._intake.take(frame)
