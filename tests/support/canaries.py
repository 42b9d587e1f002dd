"""What marks a session, so that anything of it shows wherever it turns up."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.scripted import tone_hz

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tests.support.realtime_client import RealtimeClient

__all__ = ["canary_words", "check_voice", "foreign_share", "pitch_hz"]

RATE_HZ = 24_000
_LETTERS = "bcdfghjklmnpqrstvwxz"
_SHORTEST_MS = 40
_MOST_FOREIGN = 0.01


def canary_words(seeded: random.Random) -> Iterator[str]:
    """Words that no language has, each once."""
    seen: set[str] = set()
    while True:
        word = "".join(seeded.choices(_LETTERS, k=12))
        if word not in seen:
            seen.add(word)
            yield word


def pitch_hz(pcm: bytes) -> float:
    """The loudest frequency (24 kHz PCM)."""
    samples = _samples(pcm)
    size = 1 << 17  # zero padding: bins far narrower than the steps between two tones
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), size))
    return float(np.argmax(spectrum)) * RATE_HZ / size


def foreign_share(pcm: bytes, hz: float) -> float:
    """How much of the energy is not in a sine of this frequency: 0 to 1."""
    samples = _samples(pcm)
    phase = 2 * np.pi * hz / RATE_HZ * np.arange(len(samples))
    basis = np.stack([np.sin(phase), np.cos(phase)], axis=1)
    fitted, *_ = np.linalg.lstsq(basis, samples, rcond=None)
    rest = samples - basis @ fitted
    return float(np.sum(rest**2) / max(1.0, float(np.sum(samples**2))))


def check_voice(client: RealtimeClient) -> int:
    """Check that every delta is in the session's own tone; return how many were long enough.

    Raises:
        AssertionError: Some of the audio has another pitch, or another tone is mixed in.
    """
    checked = 0
    for event in client.of("response.output_audio.delta"):
        pcm = base64.b64decode(event["delta"])
        if len(pcm) < _SHORTEST_MS * RATE_HZ * 2 // 1000:
            continue
        own_hz = tone_hz(client.session_id)
        share = foreign_share(pcm, own_hz)
        assert share < _MOST_FOREIGN, (
            f"{client.session_id} speaks at {own_hz:g} Hz, but {share:.0%} of a delta is something "
            f"else, loudest at {pitch_hz(pcm):.0f} Hz"
        )
        checked += 1
    return checked


def _samples(pcm: bytes) -> NDArray[np.float64]:
    return np.frombuffer(pcm, dtype="<i2").astype(np.float64)
