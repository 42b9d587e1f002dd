"""One websocket to a Realtime server: open it, send and receive events, close it."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from s2s_actors.client.address import is_loopback, realtime_url
from s2s_actors.client.credentials import KEY_HINT, TRUST_HINT, authorization
from s2s_actors.client.record import Closed, parse_event
from s2s_actors.errors import CapacityError, SetupError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from websockets.asyncio.client import ClientConnection

    from s2s_actors.client.record import Event

__all__ = ["Connection", "Knock", "connected", "knocking", "session_update"]

_TRY_AGAIN_LATER: Final = 1013
_TOO_BUSY: Final = frozenset({429, 503})
_CLOSE_TIMEOUT_S: Final = 2.0
_SERVER_VAD: Final[Mapping[str, object]] = {"type": "server_vad"}
_START_HINT: Final = "start one with: s2s-actors serve"


class Connection:
    """An open websocket, with a clock that starts when :meth:`start_clock` is called.

    Attributes:
        first: The event that opened the session.
    """

    def __init__(self, socket: ClientConnection, first: Event) -> None:
        self.first = first
        self._socket = socket
        self._clock = asyncio.get_running_loop().time
        self._zero_s = self._clock()

    @property
    def now_ms(self) -> float:
        """Time since the clock was started (or since the session was opened)."""
        return (self._clock() - self._zero_s) * 1000.0

    def start_clock(self) -> None:
        """Make this moment the zero of all times that follow."""
        self._zero_s = self._clock()

    async def send(self, event: Mapping[str, object]) -> None:
        """Send one event; a connection that is gone is left for :meth:`receive` to report."""
        try:
            await self._socket.send(json.dumps(event, ensure_ascii=False))
        except ConnectionClosed:
            return

    async def receive(self) -> Event | Closed:
        """Wait for the next event, or for the end of the connection.

        Raises:
            SetupError: The server does not speak the Realtime protocol.
        """
        frame = await self.receive_raw()
        return frame if isinstance(frame, Closed) else parse_event(frame, self.now_ms)

    async def receive_raw(self) -> str | bytes | Closed:
        """Wait for the next event as it was sent, or for the end of the connection."""
        try:
            return await self._socket.recv()
        except ConnectionClosed as error:
            return _closed(error)

    def write(self, frame: bytes) -> None:
        """Write a whole websocket frame, masked and ready; nothing is waited for."""
        if not self._socket.transport.is_closing():
            self._socket.transport.write(frame)


class Knock:
    """An open websocket whose session may still have to wait for a unit."""

    def __init__(self, socket: ClientConnection, timeout_s: float) -> None:
        self._socket = socket
        self._timeout_s = timeout_s

    async def session(self) -> Connection:
        """Wait for ``session.created``; to be called once.

        Raises:
            SetupError: The server opened no session in time.
            CapacityError: It has no unit for this session.
        """
        return Connection(self._socket, await _session_created(self._socket, self._timeout_s))


@asynccontextmanager
async def connected(url: str, *, timeout_s: float) -> AsyncIterator[Connection]:
    """Open a session and close it properly at the end.

    Args:
        url: As a person typed it.
        timeout_s: Longest wait for the connection, and again for the session (a server may
            keep a client in its queue).

    Raises:
        SetupError: Nobody answers there, or not as a Realtime server would.
        CapacityError: The server has no unit for this session.
    """
    async with knocking(url, timeout_s=timeout_s) as knock:
        yield await knock.session()


@asynccontextmanager
async def knocking(url: str, *, timeout_s: float) -> AsyncIterator[Knock]:
    """Open a websocket without waiting for a session, and close it properly at the end.

    Raises:
        SetupError: Nobody answers there, or not as a Realtime server would.
        CapacityError: The server lets nobody wait for a session.
    """
    socket = await _open(realtime_url(url), timeout_s)
    try:
        yield Knock(socket, timeout_s)
    finally:
        await _close(socket)


class _Connect(connect):
    """Opens a websocket, and takes no key to where a redirect leads."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """The error itself, where a key was sent."""
        return exc if self.additional_headers else super().process_redirect(exc)


async def _open(address: str, timeout_s: float) -> ClientConnection:
    try:
        return await _Connect(
            address,
            additional_headers=authorization(),
            proxy=None if is_loopback(address) else True,
            open_timeout=timeout_s,
            close_timeout=_CLOSE_TIMEOUT_S,
            compression=None,  # base64 audio: the cost in CPU buys nothing
            max_size=None,
        )
    except ConnectionRefusedError as error:
        raise SetupError(f"nothing listens at {address}", hint=_START_HINT) from error
    except TimeoutError as error:
        raise SetupError(f"{address} did not answer within {timeout_s:g} s") from error
    except InvalidStatus as error:
        raise _refused(address, error) from error
    except InvalidHandshake as error:
        raise SetupError(f"{address} is no websocket server ({error})") from error
    except ssl.SSLCertVerificationError as error:
        message = f"{address} is not to be trusted ({error.verify_message})"
        raise SetupError(message, hint=TRUST_HINT) from error
    except OSError as error:
        raise SetupError(f"can't reach {address}: {error.strerror or error}") from error


def _refused(address: str, error: InvalidStatus) -> SetupError | CapacityError:
    response = error.response
    body = bytes(response.body or b"").decode(errors="replace").strip().partition("\n")[0]
    message = f"{address} answers HTTP {response.status_code} {body or response.reason_phrase}"
    if response.status_code in _TOO_BUSY:
        return CapacityError(message)
    return SetupError(message, hint=KEY_HINT if response.status_code == 401 else None)


async def _close(socket: ClientConnection) -> None:
    try:
        async with asyncio.timeout(2 * _CLOSE_TIMEOUT_S):
            await socket.close()
    except TimeoutError:
        # A server that reads nothing also blocks the close frame.
        socket.transport.abort()


async def _session_created(socket: ClientConnection, timeout_s: float) -> Event:
    """The first event of a session; an error that came before it explains a refusal."""
    reason = ""
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                event = parse_event(await socket.recv(), at_ms=0.0)
                if event.type == "session.created":
                    return event
                if event.type == "error":
                    reason = f"{event.text('error', 'message')} ({event.text('error', 'code')})"
    except TimeoutError as error:
        raise SetupError(f"the server opened no session within {timeout_s:g} s") from error
    except ConnectionClosed as error:
        closed = _closed(error)
        message = f"the server refused the session: {reason or closed}"
        if closed.code == _TRY_AGAIN_LATER:
            raise CapacityError(message) from error
        raise SetupError(message) from error


def _closed(error: ConnectionClosed) -> Closed:
    if error.rcvd is None:
        return Closed(1006, "connection lost")
    return Closed(error.rcvd.code, error.rcvd.reason)


def session_update(
    instructions: str | None, turn_detection: Mapping[str, object] | None = _SERVER_VAD
) -> dict[str, object]:
    """The ``session.update`` of all our clients: PCM both ways, server VAD, transcripts.

    Args:
        instructions: System prompt, None for the server's own.
        turn_detection: How turns end, None for the server's own way.
    """
    pcm = {"type": "audio/pcm", "rate": 24_000}
    audio_in: dict[str, object] = {"format": pcm, "transcription": {"model": "whisper-1"}}
    if turn_detection is not None:
        audio_in["turn_detection"] = turn_detection
    session: dict[str, object] = {
        "type": "realtime",
        "output_modalities": ["audio"],
        "audio": {"input": audio_in, "output": {"format": pcm}},
    }
    if instructions is not None:
        session["instructions"] = instructions
    return {"type": "session.update", "event_id": "client_settings", "session": session}
