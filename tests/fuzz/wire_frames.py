"""Websocket frames by hand, right ones and wrong ones."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["frame", "in_pieces", "odd_bytes"]

_CONTINUATION: Final = 0
_TEXT: Final = 1
_PING: Final = 9
_FIN: Final = 0x80
_MASKED: Final = 0x80
_SHORT: Final = 126
_LONG: Final = 1 << 16


def frame(opcode: int, payload: bytes, *, fin: bool = True, mask: bytes = bytes(4)) -> bytes:
    """One masked frame."""
    return _head(opcode, len(payload), fin=fin) + mask + _masked(payload, mask)


def in_pieces(text: str, cuts: Sequence[int], mask: bytes) -> bytes:
    """A text message in several frames, cut anywhere, with a ping between any two."""
    data = text.encode()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    last = len(edges) - 2
    frames = []
    for number in range(last + 1):
        piece = data[edges[number] : edges[number + 1]]
        opcode = _CONTINUATION if number else _TEXT
        frames.append(frame(opcode, piece, fin=number == last, mask=mask))
    return frame(_PING, b"between", mask=mask).join(frames)


def _head(opcode: int, size: int, *, fin: bool = True, reserved: int = 0) -> bytes:
    first = (_FIN if fin else 0) | reserved << 4 | opcode
    if size < _SHORT:
        return bytes([first, _MASKED | size])
    if size < _LONG:
        return bytes([first, _MASKED | _SHORT]) + struct.pack("!H", size)
    return bytes([first, _MASKED | _SHORT + 1]) + struct.pack("!Q", size)


def _masked(payload: bytes, mask: bytes) -> bytes:
    return bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


_payloads = st.binary(max_size=130)
_any_frame = st.builds(
    lambda opcode, size, fin, reserved, payload: (
        _head(opcode, len(payload) if size is None else size, fin=fin, reserved=reserved)
        + bytes(4)
        + payload
    ),
    st.integers(0, 15),
    st.none() | st.sampled_from([0, 5, 125, 126, 65_536, 1 << 31, (1 << 63) - 1, (1 << 64) - 1]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 1, 2, 4, 7]),
    _payloads,
)
_closing = st.builds(
    lambda code, reason: frame(8, struct.pack("!H", code) + reason),
    st.integers(0, 65_535),
    st.binary(max_size=10),
)
_unmasked = _payloads.map(lambda payload: bytes([_FIN | _TEXT, len(payload) % _SHORT]) + payload)
odd_bytes = st.lists(
    st.one_of(_any_frame, _closing, _unmasked, st.binary(max_size=60)), min_size=1, max_size=5
).map(b"".join)
"""What no client's library would write."""
