"""Sounds to send, as 24 kHz 16-bit mono PCM, and the two companded formats of telephony."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

__all__ = ["RATE_HZ", "clip", "from_pcmu", "silence", "to_pcma", "to_pcmu", "tone"]

RATE_HZ = 24_000
_CLIP = Path(__file__).parent.with_name("question.flac")


def silence(ms: int) -> bytes:
    """Digital silence."""
    return bytes(RATE_HZ * ms // 1000 * 2)


def tone(ms: int, hz: float = 440.0) -> bytes:
    """A loud sine tone."""
    phase = 2 * np.pi * hz / RATE_HZ * np.arange(RATE_HZ * ms // 1000)
    return bytes((np.sin(phase) * 11_000).astype("<i2").tobytes())


@functools.cache
def clip() -> bytes:
    """A spoken question of two seconds: What is the capital of France?"""
    import av  # noqa: PLC0415 - only servers without a script need it

    with av.open(str(_CLIP)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
    return bytes(np.concatenate(frames, axis=1).astype("<i2").tobytes())


def _at_8_khz(pcm: bytes) -> np.ndarray:
    samples = np.frombuffer(pcm, "<i2").astype(np.int64)
    usable = samples[: len(samples) // 3 * 3]
    return np.asarray(usable.reshape(-1, 3).mean(axis=1).astype(np.int64))


def to_pcmu(pcm: bytes) -> bytes:
    """G.711 mu-law at 8 kHz."""
    samples = _at_8_khz(pcm)
    sign = np.where(samples < 0, 0x80, 0)
    size = np.minimum(np.abs(samples), 32_635) + 132
    exponent = np.floor(np.log2(size)).astype(np.int64) - 7
    mantissa = (size >> (exponent + 3)) & 0x0F
    return bytes((~(sign | (exponent << 4) | mantissa) & 0xFF).astype(np.uint8).tobytes())


def to_pcma(pcm: bytes) -> bytes:
    """G.711 A-law at 8 kHz."""
    samples = _at_8_khz(pcm)
    sign = np.where(samples >= 0, 0x80, 0)
    size = np.minimum(np.abs(samples), 32_767)
    exponent = np.maximum(np.floor(np.log2(np.maximum(size, 1))).astype(np.int64) - 7, 0)
    mantissa = np.where(exponent > 0, size >> (exponent + 3), size >> 4) & 0x0F
    return bytes(((sign | (exponent << 4) | mantissa) ^ 0x55).astype(np.uint8).tobytes())


def from_pcmu(data: bytes) -> bytes:
    """PCM at 8 kHz of G.711 mu-law."""
    code = ~np.frombuffer(data, np.uint8).astype(np.int64) & 0xFF
    size = (((code & 0x0F) << 3) + 132 << ((code >> 4) & 7)) - 132
    return bytes(np.where(code & 0x80, -size, size).astype("<i2").tobytes())
