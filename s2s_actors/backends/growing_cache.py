"""A transformers cache that grows in place, so that a step copies no more than it adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers.cache_utils import DynamicCache, DynamicLayer

if TYPE_CHECKING:
    from typing import Self

    import torch

__all__ = ["GrowingLayer", "empty_cache"]

_ROOM_TOKENS = 64
"""Space for what comes next, 1.5 MiB of SmolLM2-135M: every so many steps all is copied once.
The library copies all keys and values in each step, which is half the cost of a row in it."""


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """The keys and values of one layer, with room behind them.

    Promises: a copy shares what is there now and grows elsewhere, so what one of them reads
    on is never seen by the other.
    """

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None

    def __copy__(self) -> Self:
        """Share the keys and values, and not the room behind them."""
        twin = type(self)()
        twin.__dict__ = {**vars(self), "_room": None}
        return twin

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in new keys and values; all of them, old and new."""
        before = self.get_seq_length()
        if not before:
            self.lazy_initialization(key_states, value_states)
        new_tokens = key_states.shape[-2]
        if self._room is None or before + new_tokens > self._room[0].shape[-2]:
            size_tokens = before + new_tokens + _ROOM_TOKENS
            self._room = (
                _moved(self.keys, key_states, before, size_tokens),
                _moved(self.values, value_states, before, size_tokens),
            )
        keys, values = self._room
        keys.narrow(-2, before, new_tokens).copy_(key_states)
        values.narrow(-2, before, new_tokens).copy_(value_states)
        self.keys = keys.narrow(-2, 0, before + new_tokens)
        self.values = values.narrow(-2, 0, before + new_tokens)
        return self.keys, self.values


def _moved(
    old: torch.Tensor, like: torch.Tensor, length_tokens: int, size_tokens: int
) -> torch.Tensor:
    """The old keys or values at the beginning of a larger room."""
    room = like.new_empty((*like.shape[:-2], size_tokens, like.shape[-1]))
    if length_tokens:
        room.narrow(-2, 0, length_tokens).copy_(old)
    return room


def empty_cache(config: Any) -> DynamicCache:
    """A cache of nothing for a model; layers that keep all tokens grow in place."""
    cache = DynamicCache(config=config)
    cache.layers = [
        GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers
    ]
    return cache
