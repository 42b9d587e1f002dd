"""Between the audio of the wire and the audio inside: 16-bit PCM at 24 kHz.

G.711 comes at 8 kHz. Resampling is stateful, one stream for each direction and item, so that
the edges of chunks are not heard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import numpy as np
import soxr

from s2s_actors.protocol import audio, g711
from s2s_actors.protocol.session import PcmaFormat, PcmFormat, PcmuFormat

if TYPE_CHECKING:
    from s2s_actors.protocol.session import AudioFormat


class WireDecoder:
    """What a client sends, as PCM at 24 kHz."""

    def __init__(self, wire: AudioFormat) -> None:
        self.wire = wire
        self._law = _law(wire)
        self._resampler: soxr.ResampleStream | None = None

    def decode(self, data: bytes) -> bytes:
        """The audio of one append. PCM passes as it is, an odd byte at its end included."""
        if self._law is None:
            return data
        self._resampler = self._resampler or _stream(g711.RATE_HZ, audio.WIRE_RATE_HZ)
        return _resampled(self._resampler, g711.decode(data, self._law))

    def flush(self) -> bytes:
        """What the resampler still holds back: at a commit nothing may be missing."""
        if self._resampler is None:
            return b""
        rest, self._resampler = _resampled(self._resampler, b"", last=True), None
        return rest


class WireEncoder:
    """PCM at 24 kHz as a client wants to get it; one for each item."""

    def __init__(self, wire: AudioFormat) -> None:
        self._law = _law(wire)
        self._resampler: soxr.ResampleStream | None = None

    @property
    def bytes_per_ms(self) -> int:
        """Size of a millisecond on the wire."""
        return _bytes_per_ms(self._law)

    def encode(self, pcm: bytes, *, last: bool = False) -> bytes:
        """More audio for the wire; ``last`` brings out what the resampler holds back."""
        if self._law is None:
            return pcm
        self._resampler = self._resampler or _stream(audio.WIRE_RATE_HZ, g711.RATE_HZ)
        return g711.encode(_resampled(self._resampler, pcm, last=last), self._law)


def encoded(pcm: bytes, wire: AudioFormat) -> bytes:
    """A whole recording for the wire."""
    return WireEncoder(wire).encode(pcm, last=True)


def decoded(data: bytes, wire: AudioFormat) -> bytes:
    """A whole recording from the wire; PCM passes as it is."""
    decoder = WireDecoder(wire)
    return decoder.decode(data) + decoder.flush()


def duration_ms(size_bytes: int, wire: AudioFormat) -> int:
    """How long so much audio of the wire plays."""
    return size_bytes // _bytes_per_ms(_law(wire))


def _bytes_per_ms(law: g711.Law | None) -> int:
    return audio.BYTES_PER_MS if law is None else g711.RATE_HZ // 1000


def _law(wire: AudioFormat) -> g711.Law | None:
    match wire:
        case PcmFormat():
            return None
        case PcmuFormat():
            return "mu"
        case PcmaFormat():
            return "a"
        case _:
            assert_never(wire)


def _stream(rate_in_hz: int, rate_out_hz: int) -> soxr.ResampleStream:
    return soxr.ResampleStream(rate_in_hz, rate_out_hz, 1, dtype="int16")


def _resampled(stream: soxr.ResampleStream, pcm: bytes, *, last: bool = False) -> bytes:
    samples = stream.resample_chunk(np.frombuffer(pcm, "<i2"), last=last)
    resampled: bytes = samples.astype("<i2").tobytes()
    return resampled
