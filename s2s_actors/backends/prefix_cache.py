"""What a transformers model has read already, so that a chat is not read anew at every turn."""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from s2s_actors.backends.growing_cache import GrowingLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import DynamicCache

__all__ = ["PrefixCache", "Reading"]

_LIMIT_BYTES = 256 * 2**20
"""Some 11,000 tokens of SmolLM2-135M (23 KiB each in bfloat16): a dozen chats of usual length.
It is about as much again as the weights take; a session whose reading is gone is only slower."""

_READINGS_PER_SESSION = 2
"""The chat, and what a client asks beside it: the two would drive each other out."""


@dataclass(eq=False, slots=True)
class Reading:
    """Tokens in the order in which the model read them, and what it keeps of each.

    Attributes:
        tokens: What has been read.
        cache: Its keys and values.
    """

    tokens: list[int]
    cache: DynamicCache

    @property
    def size_bytes(self) -> int:
        """Memory that the keys and values take, with the room behind them."""
        return sum(part.untyped_storage().nbytes() for parts in self.cache for part in parts[:2])

    @property
    def can_be_kept(self) -> bool:
        """Whether each layer holds all the tokens: not after a failure, nor with a window."""
        return all(
            isinstance(layer, GrowingLayer) and layer.get_seq_length() == len(self.tokens)
            for layer in self.cache.layers
        )

    def start(self, length: int) -> Reading:
        """A reading of the first tokens, which shares their keys and values with this one."""
        cache = copy(self.cache)
        cache.layers = [copy(layer) for layer in self.cache.layers]
        with torch.inference_mode():
            cache.crop(length - len(self.tokens))
        return Reading(self.tokens[:length], cache)

    def rewind(self) -> None:
        """Drop what a step that failed has left in some of the layers."""
        with torch.inference_mode():
            for layer in self.cache.layers:
                if isinstance(layer, GrowingLayer):
                    layer.crop(min(0, len(self.tokens) - layer.get_seq_length()))


class PrefixCache:
    """Keeps the last readings of each session.

    Promises: a session gets only what it has kept itself. What is kept is never written to,
    for whoever reads on from it writes elsewhere, so any number of calls of a session may go
    on from the same reading at once. The memory of all sessions is bounded: the session that
    was served longest ago is the first to lose what was kept.

    Args:
        empty: Makes a cache of nothing for the model.
        limit_bytes: What may be kept in all.
    """

    def __init__(self, empty: Callable[[], DynamicCache], limit_bytes: int = _LIMIT_BYTES) -> None:
        self._empty = empty
        self._limit_bytes = limit_bytes
        # Sessions and readings of one session alike: the most recent is last.
        self._readings: dict[str, list[Reading]] = {}
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """What is kept in all."""
        with self._lock:
            return self._size_bytes()

    def begin(self, session_id: str, prompt: Sequence[int]) -> Reading:
        """As much of a prompt as the session has read before; its last token is left to read."""
        with self._lock:
            kept = list(self._readings.get(session_id, ()))
        # What follows is told by reading the last token: so much is never taken from the cache.
        shared = [(_common(reading.tokens, prompt[:-1]), reading) for reading in kept]
        length, best = max(shared, key=lambda entry: entry[0], default=(0, None))
        return best.start(length) if best and length else Reading([], self._empty())

    def keep(self, session_id: str, reading: Reading) -> None:
        """Keep a reading for the session's next call; it must not be read on after this.

        It takes the place of those that it mostly repeats, and is dropped if another one has
        all of it, as after a call that was cancelled before it read anything new.
        """
        if not reading.tokens or not reading.can_be_kept:
            return
        with self._lock:
            others = self._readings.pop(session_id, [])
            shared = [_common(other.tokens, reading.tokens) for other in others]
            if len(reading.tokens) not in shared:
                others = [
                    other
                    for other, length in zip(others, shared, strict=True)
                    if length <= len(other.tokens) // 2
                ]
                others = [*others, reading][-_READINGS_PER_SESSION:]
            self._readings[session_id] = others
            self._make_room()

    def forget(self, session_id: str) -> None:
        """Drop what a session has kept."""
        with self._lock:
            self._readings.pop(session_id, None)

    def _make_room(self) -> None:
        while self._size_bytes() > self._limit_bytes:
            oldest = next(iter(self._readings))
            self._readings[oldest].pop(0)
            if not self._readings[oldest]:
                del self._readings[oldest]

    def _size_bytes(self) -> int:
        return sum(
            reading.size_bytes for readings in self._readings.values() for reading in readings
        )


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two sequences have in common from their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    shorter = min(len(first), len(second))
    return next((index for index, (one, other) in pairs if one != other), shorter)
