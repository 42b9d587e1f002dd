"""The VAD stage: hears where speech starts and stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
import soxr

from s2s_actors.actors.endpointing import Endpointer, EndpointingRules, Started, Stopped
from s2s_actors.actors.messages import (
    AudioIn,
    Bind,
    ConfigureVad,
    Listened,
    SpeechStarted,
    SpeechStopped,
)
from s2s_actors.actors.stage import Links, StageActor
from s2s_actors.protocol.audio import WIRE_RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import VadStream, VoiceActivityDetector


TELL_EVERY_MS = 1000
"""How often the conversation hears how far voice detection has come."""


class VadActor(StageActor):
    """Turns audio into speech boundaries on the session's clock."""

    stage = "vad"

    # A client may send a recording faster than it plays. What waits here is in the input
    # buffer too, which forgets nothing that has not been listened to.
    limit_bytes = 5 * 60 * WIRE_RATE_HZ * 2
    limit_messages = 16 * 1024

    def __init__(self, name: str, links: Links, backend: VoiceActivityDetector) -> None:
        super().__init__(name, links)
        self._backend = backend
        self._ear: _Ear | None = None

    def open_session(self, bind: Bind) -> None:
        """Begin with fresh recurrent state; nothing is detected until settings come."""
        self._ear = _Ear(bind.lease, self._backend)

    def reset(self) -> None:
        """Forget the voice of the session."""
        self._ear = None

    def work(self, message: Any) -> None:
        """Listen."""
        assert self._ear is not None
        match message:
            case ConfigureVad():
                self._ear.configure(message)
            case AudioIn():
                for found in self._ear.hear(message):
                    self.links.conversation.put(found)
            case _:
                assert_never(message)


class _Ear:
    """Voice detection of one session."""

    def __init__(self, lease: Lease, backend: VoiceActivityDetector) -> None:
        self._lease = lease
        self._rate_hz = backend.sample_rate_hz
        self._frame_samples = backend.frame_samples
        self._stream: VadStream = backend.open_stream(lease.session_id)
        self._endpointer: Endpointer | None = None
        self._generation = 0
        self._told_ms = 0
        self._waiting: NDArray[np.float32] = np.zeros(0, np.float32)
        self._resampler: Any = None
        self._begin_at(0)

    def configure(self, message: ConfigureVad) -> None:
        """Take new settings; another generation means a fresh utterance."""
        fresh = message.generation != self._generation
        self._generation = message.generation
        if message.turn_detection is None:
            self._endpointer = None
            return
        rules = EndpointingRules.of(message.turn_detection)
        if self._endpointer is None or fresh:
            self._endpointer = Endpointer(rules)
        else:
            self._endpointer.rules = rules

    def hear(self, message: AudioIn) -> list[SpeechStarted | SpeechStopped | Listened]:
        """Take in audio and return the boundaries found in it, and from time to time how far."""
        if self._endpointer is None:
            return []
        if message.at_sample != self._next_sample:
            self._begin_at(message.at_sample)
        pcm = np.frombuffer(message.pcm, dtype="<i2")
        self._next_sample += len(pcm)
        resampled = self._resampler.resample_chunk(pcm)
        self._waiting = np.concatenate([self._waiting, resampled.astype(np.float32) / 32768])
        boundaries = (self._judge(frame) for frame in self._frames())
        found: list[SpeechStarted | SpeechStopped | Listened] = [b for b in boundaries if b]
        if self._heard_ms - self._told_ms >= TELL_EVERY_MS:
            self._told_ms = self._heard_ms
            found.append(Listened(self._lease, self._told_ms))
        return found

    @property
    def _heard_ms(self) -> int:
        return int(self._origin_ms + self._heard_samples * 1000 / self._rate_hz)

    def _begin_at(self, sample: int) -> None:
        """Start over after a gap: detection was off, or the buffer was cleared."""
        self._next_sample = sample
        self._origin_ms = sample * 1000 / WIRE_RATE_HZ
        self._heard_samples = 0
        self._told_ms = int(self._origin_ms)
        self._waiting = np.zeros(0, np.float32)
        self._resampler = soxr.ResampleStream(
            WIRE_RATE_HZ, self._rate_hz, 1, dtype="int16", quality="MQ"
        )
        self._stream.reset()
        if self._endpointer is not None:
            self._endpointer.reset()

    def _frames(self) -> list[NDArray[np.float32]]:
        size = self._frame_samples
        count = len(self._waiting) // size
        frames = [self._waiting[n * size : (n + 1) * size] for n in range(count)]
        self._waiting = self._waiting[count * size :]
        return frames

    def _judge(self, frame: NDArray[np.float32]) -> SpeechStarted | SpeechStopped | None:
        assert self._endpointer is not None
        start_ms = self._heard_ms
        self._heard_samples += len(frame)
        end_ms = self._heard_ms
        match self._endpointer.push(self._stream.probability(frame), start_ms, end_ms):
            case Started(at_ms=at_ms):
                return SpeechStarted(self._lease, at_ms, self._generation)
            case Stopped(at_ms=at_ms):
                return SpeechStopped(self._lease, at_ms, self._generation)
            case None:
                return None
