"""What the speaker plays, and how much of it has been heard. No audio library in here."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from s2s_actors.client.audio_file import BYTES_PER_MS

__all__ = ["Heard", "Playback"]


@dataclass(frozen=True, slots=True)
class Heard:
    """How far the playback of an interrupted answer had come."""

    item_id: str
    audio_end_ms: int


@dataclass(slots=True)
class _Piece:
    item_id: str
    pcm: bytes
    start_bytes: int  # place in the audio of its item
    taken_bytes: int = 0


class Playback:
    """A queue between the network and the sound card; both may call at any time.

    Audio of an item that was interrupted is refused from then on, so what was still
    under way when the user spoke is never heard.

    Attributes:
        latency_ms: Time from :meth:`take` until the sound leaves the speaker.
    """

    def __init__(self, latency_ms: float = 0.0) -> None:
        self.latency_ms = latency_ms
        self._lock = threading.Lock()
        self._pieces: deque[_Piece] = deque()
        self._received_bytes: dict[str, int] = {}
        self._interrupted: set[str] = set()
        self._latest: Heard | None = None
        self._since_latest_bytes = 0

    def put(self, item_id: str, pcm: bytes) -> None:
        """Queue a piece of an answer."""
        with self._lock:
            if item_id in self._interrupted:
                return
            start = self._received_bytes.get(item_id, 0)
            self._received_bytes[item_id] = start + len(pcm)
            self._pieces.append(_Piece(item_id, pcm, start))

    def take(self, size_bytes: int) -> bytes:
        """The next audio to play, filled up with silence; never blocks for long."""
        taken = bytearray()
        with self._lock:
            while self._pieces and len(taken) < size_bytes:
                piece = self._pieces[0]
                end = piece.taken_bytes + size_bytes - len(taken)
                taken += piece.pcm[piece.taken_bytes : end]
                piece.taken_bytes = min(end, len(piece.pcm))
                played_bytes = piece.start_bytes + piece.taken_bytes
                self._latest = Heard(piece.item_id, played_bytes // BYTES_PER_MS)
                self._since_latest_bytes = 0
                if piece.taken_bytes == len(piece.pcm):
                    self._pieces.popleft()
            self._since_latest_bytes += size_bytes - len(taken)
        return bytes(taken.ljust(size_bytes, b"\0"))

    def interrupt(self) -> Heard | None:
        """Stop at once; say what was heard of the answer that was playing, None if none was."""
        with self._lock:
            latest = self._latest
            if self._pieces:
                latest = latest or Heard(self._pieces[0].item_id, 0)
            elif self._unheard_ms() <= 0:
                latest = None  # the last sound has left the speaker
            self._interrupted.update(piece.item_id for piece in self._pieces)
            self._pieces.clear()
            self._latest = None
            if latest is None:
                return None
            self._interrupted.add(latest.item_id)
            heard_ms = latest.audio_end_ms - max(0.0, self._unheard_ms())
            return Heard(latest.item_id, max(0, int(heard_ms)))

    def _unheard_ms(self) -> float:
        """How much of what was taken last is still on its way to the speaker."""
        return self.latency_ms - self._since_latest_bytes / BYTES_PER_MS
