"""G.711: one byte a sample, mu-law or A-law, by tables.

The tables come from the segments of ITU-T Recommendation G.711: eight segments a sign, each
with sixteen steps, each segment's step twice that of the one before. Encoding takes the
code whose value is nearest.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Law: TypeAlias = Literal["mu", "a"]

RATE_HZ = 8000
_MU_BIAS = 132
_A_TOGGLE = 0x55


def decode(data: bytes, law: Law) -> bytes:
    """G.711 bytes as 16-bit little-endian PCM, both at 8 kHz."""
    return _values(law)[np.frombuffer(data, np.uint8)].astype("<i2").tobytes()


def encode(pcm: bytes, law: Law) -> bytes:
    """16-bit little-endian PCM as G.711 bytes, both at 8 kHz."""
    samples = np.frombuffer(pcm, "<i2").astype(np.int32)
    return _codes(law)[samples + 32768].tobytes()


@cache
def _values(law: Law) -> NDArray[np.int16]:
    """The value of each of the 256 codes."""
    codes = np.arange(256, dtype=np.int32)
    values = _mu_values(codes) if law == "mu" else _a_values(codes)
    return values.astype(np.int16)


def _mu_values(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    inverted = ~codes & 0xFF  # mu-law is sent with all bits inverted
    segment, step = (inverted >> 4) & 7, inverted & 15
    size = (((step << 3) + _MU_BIAS) << segment) - _MU_BIAS
    return np.where(inverted & 0x80, -size, size)


def _a_values(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    toggled = codes ^ _A_TOGGLE  # A-law is sent with every other bit inverted
    segment, step = (toggled >> 4) & 7, toggled & 15
    low = (step << 4) + 8
    size = np.where(segment == 0, low, (low + 256) << np.maximum(segment - 1, 0))
    return np.where(toggled & 0x80, size, -size)


@cache
def _codes(law: Law) -> NDArray[np.uint8]:
    """The code of each 16-bit value, from -32768 up."""
    values = _values(law).astype(np.int32)
    order = np.argsort(values, kind="stable")
    borders = (values[order][1:] + values[order][:-1]) / 2
    return order[np.searchsorted(borders, np.arange(-32768, 32768))].astype(np.uint8)
