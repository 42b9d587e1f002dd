"""What a client sends, on its way to the unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.actors.messages import ClientFrame
from s2s_actors.errors import ClientError
from s2s_actors.protocol.codec import decode, encode
from s2s_actors.protocol.server_events import client_error, server_error
from s2s_actors.runtime.outlet import LaneFullError

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.ports import Granted
    from s2s_actors.actors.tally import Tally
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.server.audio_meter import AudioMeter
    from s2s_actors.server.limits import Visit
    from s2s_actors.server.outbox import Outbox

EARLY_LIMIT_FRAMES = 4096
EARLY_LIMIT_BYTES = 8 * 1024 * 1024
_TRY_AGAIN_LATER = 1013


class Intake:
    """Decodes frames and passes them on; answers those that are not acceptable.

    Promises: never waits and never grows without limit. A frame that is refused, for its
    form or for lack of room, gets one ``error`` event that names it, nothing of it is
    applied, and the session goes on. Frames that come before the unit is known are kept for
    it, so that the socket is read all the time: only who reads notices a client that leaves.
    Audio beyond what the client's key may send is not passed on, and ends the session.
    """

    def __init__(
        self,
        outbox: Outbox,
        now_s: Callable[[], float],
        visit: Visit,
        meter: AudioMeter,
        tally: Tally,
    ) -> None:
        """Begin without a unit.

        Args:
            outbox: Takes the answers.
            now_s: The process's clock.
            visit: Counts the audio.
            meter: Tells how much there is.
            tally: Counts events for which there was no room.
        """
        self._outbox = outbox
        self._now_s = now_s
        self._visit = visit
        self._meter = meter
        self._tally = tally
        self._granted: Granted | None = None
        self._early: list[str | bytes] = []
        self._early_bytes = 0
        self._missed = 0
        self._closed = False

    def open(self, granted: Granted) -> None:
        """Pass on what came early, and from now on everything at once."""
        self._granted = granted
        early, self._early = self._early, []
        for raw in early:
            if not self._closed:
                self._pass_on(granted, raw)
        if self._missed:
            message = f"{self._missed} events came before a unit was free and were dropped."
            self._reject(ClientError("input_backpressure", message))

    def take(self, raw: str | bytes) -> None:
        """Take one message of the client."""
        if self._closed:
            return
        if self._granted is not None:
            self._pass_on(self._granted, raw)
        else:
            self._keep(raw)

    def close(self) -> None:
        """Drop what still comes: the session is over."""
        self._closed = True
        self._early.clear()

    def _keep(self, raw: str | bytes) -> None:
        full = len(self._early) >= EARLY_LIMIT_FRAMES
        if full or self._early_bytes + len(raw) > EARLY_LIMIT_BYTES:
            self._missed += 1
            self._tally.event_dropped()
            return
        self._early.append(raw)
        self._early_bytes += len(raw)

    def _pass_on(self, granted: Granted, raw: str | bytes) -> None:
        if isinstance(raw, bytes):
            message = "Binary messages are not served: send events as JSON text."
            self._reject(ClientError("invalid_message", message))
            return
        try:
            event = decode(raw)
        except ClientError as error:
            self._reject(error)
            return
        if not self._may_send(event):
            return
        try:
            granted.inlet.put(ClientFrame(granted.lease, event, self._now_s(), len(raw)))
        except LaneFullError:
            self._tally.event_dropped()
            message = "Events come faster than they can be handled; this one was dropped."
            self._reject(ClientError("input_backpressure", message, event_id=event.event_id))

    def _may_send(self, event: ClientEvent) -> bool:
        audio_s = self._meter.length_s(event)
        denied = self._visit.heard(audio_s) if audio_s else None
        if denied is None:
            return True
        # Who can't be heard has no use for a session: its unit goes to somebody else.
        self._outbox.send(encode(server_error(denied.code, denied.text)))
        self._outbox.close(_TRY_AGAIN_LATER, denied.text)
        self.close()
        return False

    def _reject(self, error: ClientError) -> None:
        self._outbox.answer(encode(client_error(error)))
