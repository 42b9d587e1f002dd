"""Takes the noise out of what a microphone hears, before anyone listens to it.

WebRTC's noise suppression does it, which works at 16 kHz in frames of 10 ms: what lies above
8 kHz is lost. Nobody here listens to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import av
import numpy as np

from s2s_actors.errors import ClientError
from s2s_actors.protocol.audio import BYTES_PER_SAMPLE, WIRE_RATE_HZ

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

__all__ = ["Microphone", "NoiseReducer"]

Microphone: TypeAlias = Literal["near_field", "far_field"]

_RATE_HZ: Final = 16_000
_FRAME_BYTES: Final = 10 * _RATE_HZ // 1000 * BYTES_PER_SAMPLE
_DELAY_BYTES: Final = 6 * _RATE_HZ // 1000 * BYTES_PER_SAMPLE
"""How late the suppression brings out what goes in (measured)."""
_SUPPRESSION: Final[dict[Microphone, int]] = {"near_field": 2, "far_field": 3}
"""WebRTC's levels, 1 to 4. Measured with Whisper: these cost no words, where stronger ones do."""
_GAIN: Final[dict[Microphone, int]] = {"near_field": 0, "far_field": 3}
"""0 leaves loudness alone; anything else makes who is far away louder (to -3 dBFS at most)."""


class NoiseReducer:
    """Cleans the audio of one session: 16-bit PCM at 24 kHz, in any pieces.

    Promises: what comes out is as long as what went in, once flushed, and no sample has
    moved; on its way, up to 20 ms are held back.
    """

    def __init__(self, kind: Microphone) -> None:
        """Begin with silence.

        Raises:
            ClientError: The library is not installed.
        """
        self._kind = kind
        self._library = _library()
        self._odd = b""
        self._begin()

    def process(self, pcm: bytes) -> bytes:
        """More audio in; what is ready comes out. A sample may be cut in two."""
        pcm = self._odd + pcm
        whole = len(pcm) // BYTES_PER_SAMPLE * BYTES_PER_SAMPLE
        self._odd = pcm[whole:]
        self._owed += whole
        return self._pay(self._up.convert(self._suppress(self._down.convert(pcm[:whole]))))

    def flush(self) -> bytes:
        """What is held back. The next audio is a new beginning, after silence."""
        rest = self._down.finish()
        # Silence drives out what is inside: a frame that is not full, and the delay.
        silence = bytes(_FRAME_BYTES + _DELAY_BYTES)
        cleaned = self._suppress(rest + silence)
        last = self._up.convert(cleaned) + self._up.finish()
        flushed = self._pay(last) + bytes(self._owed) + self._odd
        self._odd = b""
        self._begin()
        return flushed

    def _begin(self) -> None:
        self._suppressor = self._library.AudioProcessor(_GAIN[self._kind], _SUPPRESSION[self._kind])
        self._down = _Converter(WIRE_RATE_HZ, _RATE_HZ)
        self._up = _Converter(_RATE_HZ, WIRE_RATE_HZ)
        self._waiting = b""
        self._early = _DELAY_BYTES
        self._owed = 0

    def _suppress(self, pcm: bytes) -> bytes:
        self._waiting += pcm
        whole = len(self._waiting) // _FRAME_BYTES * _FRAME_BYTES
        cleaned = b"".join(
            self._suppressor.Process10ms(self._waiting[start : start + _FRAME_BYTES]).audio
            for start in range(0, whole, _FRAME_BYTES)
        )
        self._waiting = self._waiting[whole:]
        early = min(self._early, len(cleaned))
        self._early -= early
        return cleaned[early:]

    def _pay(self, pcm: bytes) -> bytes:
        paid = pcm[: self._owed]
        self._owed -= len(paid)
        return paid


class _Converter:
    """From one rate to another, with a delay of a millisecond: soxr's streams hold back 40."""

    def __init__(self, rate_in_hz: int, rate_out_hz: int) -> None:
        self._rate_in_hz = rate_in_hz
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=rate_out_hz)
        self._is_used = False

    def convert(self, pcm: bytes) -> bytes:
        if not pcm:
            return b""
        self._is_used = True
        samples: NDArray[np.int16] = np.frombuffer(pcm, "<i2").reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = self._rate_in_hz
        return _joined(self._resampler.resample(frame))

    def finish(self) -> bytes:
        return _joined(self._resampler.resample(None)) if self._is_used else b""


def _joined(frames: list[av.AudioFrame]) -> bytes:
    return b"".join(bytes(frame.planes[0])[: frame.samples * BYTES_PER_SAMPLE] for frame in frames)


def _library() -> ModuleType:
    try:
        import webrtc_noise_gain  # noqa: PLC0415 - not to be had on every platform
    except ImportError:
        raise ClientError(
            "invalid_value",
            "This server has no noise reduction: the package webrtc-noise-gain is not installed.",
            param="session.audio.input.noise_reduction",
        ) from None
    library: ModuleType = webrtc_noise_gain
    return library
